"""What this host is: devices, CANN, interpreter, packages, variables. Absent is recorded as absent."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from git_afd.adapters.asking import asked
from git_afd.adapters.host_snapshot import snapshot
from git_afd.adapters.python_probe import probe_python
from git_afd.core.evidence.cann import parse_cann_info
from git_afd.core.evidence.host_snapshot import Snapshot
from git_afd.core.evidence.npu_smi import NpuTable, Unknown, parse_npu_smi
from git_afd.core.outcome import Json
from git_afd.errors import EnvironmentFault

VARIABLES: Final = (
    "VLLM_VERSION",
    "VLLM_PLUGINS",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "SOC_VERSION",
)
"""Variables that change which devices or versions a run sees; VLLM_VERSION overrides vLLM's own check."""

_CANN_HOME: Final = "/usr/local/Ascend/ascend-toolkit/latest"
_CANN_FILE: Final = "ascend_toolkit_install.info"
_SMI_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The facts, JSON-able; `npu_text` is npu-smi's own output, to be kept as an artifact (empty: no tool).

    `seen` is the snapshot of the same moment, kept beside it.
    """

    machine: Mapping[str, Json]
    npu: Mapping[str, Json]
    cann: Mapping[str, Json]
    python: Mapping[str, Json]
    variables: Mapping[str, str]
    processes: tuple[str, ...]
    seen: Snapshot
    npu_text: str = ""

    @property
    def has_npu(self) -> bool:
        """Whether devices were seen and understood; *unknown* is not a yes."""
        return self.npu.get("state") == "present"

    def as_json(self) -> dict[str, Json]:
        """Return the facts for a record or a bundle's header."""
        return {
            "machine": dict(self.machine),
            "npu": dict(self.npu),
            "cann": dict(self.cann),
            "python": dict(self.python),
            "variables": dict(self.variables),
            "processes": list(self.processes),
        }


def host_facts(
    python: str, *, cwd: Path, env: Mapping[str, str], ports: Iterable[int] = (), devices: Path = Path("/dev")
) -> HostFacts:
    """Look at this host once. `python` is the target runtime's interpreter, asked in `cwd` with `env`.

    Nothing is guessed: what is not there is ``absent``, what did not answer ``unknown``. Raises only
    KeyboardInterrupt, when this program was told to stop meanwhile.
    `devices` is where device files stand.
    """
    table, text = read_npus(env, devices=devices)
    return HostFacts(
        machine={"system": platform.system(), "release": platform.release(), "arch": platform.machine()},
        npu=_npu_json(table),
        cann=_cann(env),
        python=probe_python(python, cwd=cwd, env=env),
        variables={name: env.get(name, "absent") for name in VARIABLES},
        processes=vllm_processes(),
        seen=snapshot(ports, pids_on(table), cwd),
        npu_text=text,
    )


def read_npus(env: Mapping[str, str], *, devices: Path = Path("/dev")) -> tuple[NpuTable | Unknown | None, str]:
    """Run ``npu-smi info``; return the table, Unknown, or None when there is neither tool nor device; and its text."""
    tool = shutil.which("npu-smi", path=env.get("PATH", ""))
    if tool is None:
        files = sorted(path.name for path in devices.glob("davinci[0-9]*"))
        return (Unknown(f"{', '.join(files)} are there, npu-smi is not on PATH") if files else None), ""
    text, wrong = _ask(tool, env, "info")
    return (Unknown(wrong) if wrong else parse_npu_smi(text)), text


def npu_map(env: Mapping[str, str]) -> str:
    """Return what ``npu-smi info -m`` prints; empty when it cannot be asked or fails."""
    tool = shutil.which("npu-smi", path=env.get("PATH", ""))
    text, wrong = _ask(tool, env, "info", "-m") if tool else ("", "")
    return "" if wrong else text


def _ask(tool: str, env: Mapping[str, str], *words: str) -> tuple[str, str]:
    """Run npu-smi; return what it printed, and why that is not to be believed (empty: it is)."""
    try:
        done, text = asked([tool, *words], env=env, timeout_s=_SMI_TIMEOUT_S)
    except EnvironmentFault as fault:
        return "", fault.message
    if not done.succeeded:
        ended = f"exit code {done.exit_code}" if done.exit_code is not None else f"signal {done.signal}"
        how = "did not answer in time" if done.timed_out else f"ended with {ended}"
        said = next((line.strip() for line in text.splitlines() if line.strip()), "nothing")
        return text, f"npu-smi {how}; it said: {said[:160]}"
    return text, ""


def pids_on(table: NpuTable | Unknown | None) -> tuple[int, ...]:
    """Return the processes that an npu-smi table names."""
    return tuple(process.pid for process in table.processes) if isinstance(table, NpuTable) else ()


def vllm_processes() -> tuple[str, ...]:
    """Return living processes that are vLLM's by their name or first words, as ``pid name``; arguments stay private."""
    import psutil

    found = []
    for process in psutil.process_iter(["name", "cmdline", "status"]):
        info = process.info
        words = " ".join([info["name"] or "", *(info["cmdline"] or [])[:3]]).lower()
        if "vllm" in words and info["status"] != psutil.STATUS_ZOMBIE:
            found.append(f"{process.pid} {info['name'] or '?'}")
    return tuple(found)


def _npu_json(table: NpuTable | Unknown | None) -> dict[str, Json]:
    if table is None:
        return {"state": "absent"}
    if isinstance(table, Unknown):
        return {"state": "unknown", "reason": table.reason}
    return {
        "state": "present",
        "driver": table.version or "absent",
        "chips": [chip.as_json() for chip in table.chips],
        "processes": [process.as_json() for process in table.processes],
    }


def _cann(env: Mapping[str, str]) -> dict[str, Json]:
    """Find the toolkit that the variables name, else the usual place, and what it says of itself."""
    named = env.get("ASCEND_HOME_PATH") or env.get("ASCEND_TOOLKIT_HOME")
    home = Path(named or _CANN_HOME)
    arch = f"{platform.machine()}-linux"
    places = (home / arch, home, home / "latest" / arch, *sorted(home.glob(f"*/{arch}")))
    files = dict.fromkeys((place / _CANN_FILE).resolve() for place in places if (place / _CANN_FILE).is_file())
    if not files:
        return {"state": "unknown", "reason": f"{home} holds no {_CANN_FILE}"} if named else {"state": "absent"}
    first = next(iter(files))
    try:
        values = parse_cann_info(first.read_text(errors="replace"))
    except OSError as error:
        return {"state": "unknown", "reason": f"{first}: {error.strerror}"}
    if values is None:
        return {"state": "unknown", "reason": f"{first} names no version"}
    return {"state": "present", "version": values["version"], "path": str(first.parent), "home": str(home.resolve())}
