"""Run by the target runtime's interpreter: import the plugin, load its entry point, call it where a runtime is.

The argument is a JSON object: ``package``, ``group`` and ``entry`` of the policy, and ``runtime``, the module whose
presence decides whether the entry point can be called.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import traceback
from importlib import metadata, util
from typing import Any


def file_of(thing: object) -> str:
    """Return the real path of the source that defines a module or a function; empty when there is none."""
    try:
        return os.path.realpath(inspect.getsourcefile(inspect.unwrap(thing)) or "")  # type: ignore[arg-type]  # asked of anything
    except (TypeError, ValueError, OSError):
        return ""


def fault_of(error: BaseException) -> dict[str, Any]:
    """Return what went wrong: the kind, the message, the module that was not found, where it was raised."""
    where = traceback.extract_tb(error.__traceback__)[-1:]
    return {
        "kind": type(error).__name__,
        "text": " ".join(str(error).split())[:300],
        "lacks": (error.name or "") if isinstance(error, ModuleNotFoundError) else "",
        "at": f"{where[0].filename}:{where[0].lineno}" if where else "",
    }


def present(module: str) -> bool:
    """Say whether an import of the top-level `module` would find a file."""
    try:
        spec = util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def said_of(entry: metadata.EntryPoint, *, call: bool) -> dict[str, Any]:
    """Load one entry point and, when `call`, call it as the runtime would."""
    dist = getattr(entry, "dist", None)
    said: dict[str, Any] = {"value": entry.value, "distribution": "", "version": "", "place": "", "called": False}
    if dist is not None:
        place = os.path.realpath(str(dist.locate_file("")))
        said |= {"distribution": dist.metadata["Name"], "version": dist.version, "place": place}
    try:
        loaded = entry.load()
        said["origin"] = file_of(loaded)
        if call:
            loaded()
            said["called"] = True
    except BaseException as error:  # noqa: BLE001 - whatever somebody else's code raises, an exit included
        said["fault"] = fault_of(error)
    return said


def main() -> None:
    """Print one line: the mark, then JSON."""
    mark, asked = sys.argv[1], json.loads(sys.argv[2])
    said: dict[str, Any] = {"executable": sys.executable, "origin": "", "entries": []}
    said["runtime"] = present(asked["runtime"])
    try:
        said["origin"] = file_of(importlib.import_module(asked["package"]))
    except BaseException as error:  # noqa: BLE001 - as above
        said["fault"] = fault_of(error)
    said["entries"] = [
        said_of(entry, call=said["runtime"])
        for entry in metadata.entry_points(group=asked["group"], name=asked["entry"])
    ]
    sys.stdout.write("\n" + mark + json.dumps(said) + "\n")
    sys.stdout.flush()
    os._exit(0)  # what was registered may have started threads; nothing of it is wanted any more


main()
