"""The toolkit's own statement: ``ascend_toolkit_install.info``, lines of key=value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CannInstall:
    """An installed CANN toolkit as its file describes it; a value that is not stated is empty."""

    version: str
    inner_version: str
    arch: str
    path: str


def read_install_info(text: str) -> CannInstall | None:
    """Read the file's text; None when it states no version. The last line wins for a key that stands twice."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, sign, value = line.partition("=")
        if sign and not key.lstrip().startswith("#"):
            values[key.strip().lower()] = value.strip().strip("\"'")
    version = values.get("version", "")
    if not version:
        return None
    return CannInstall(version, values.get("innerversion", ""), values.get("arch", ""), values.get("path", ""))
