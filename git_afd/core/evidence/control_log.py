"""What the logs of accuracy's native control say of plugins: ``VLLM_PLUGINS`` is necessary and not sufficient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from git_afd.core.command import NATIVE
from git_afd.core.evidence.native_log import read_log
from git_afd.core.evidence.native_verdict import PLUGIN
from git_afd.core.evidence.raw_run import RawRun
from git_afd.core.finding import Finding
from git_afd.core.native_cell import LogWords


def judge_control_log(raw: RawRun, files: Mapping[str, bytes], words: LogWords) -> Iterator[Finding]:
    """Yield an error for each command of a control whose log shows the plugin loaded, and a note where it is silent."""
    for one in raw.commands if raw.cell == NATIVE else ():
        told = read_log(files.get(one.log, b""), words)
        if told.every or PLUGIN in told.plugins:
            text = f"{one.name}: its log says that plugin {PLUGIN} was loaded, so it is no control"
            yield Finding("plugin-loaded", one.log, text, "let its command run without the plugin")
        elif not told.listed:
            text = (
                f"{one.name}: its log does not say which plugins were loaded; VLLM_PLUGINS alone says that it is native"
            )
            yield Finding("plugins-unknown", one.log, text, "VLLM_LOGGING_LEVEL=DEBUG in its env", "note")
