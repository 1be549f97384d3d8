"""Run by the target runtime's interpreter: which code would an import of each module read, and who installed it.

Nothing that is asked about is imported. The argument is a JSON object, distribution name to module name.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib import machinery, metadata, util
from typing import Any


def origin_of(spec: machinery.ModuleSpec | None) -> str:
    """Return the real path of the file that an import would read; empty when there is no such file."""
    origin = spec.origin if spec is not None else None
    return os.path.realpath(origin) if origin and os.path.isabs(origin) else ""  # noqa: PTH117 - texts in and out


def distributions(name: str) -> list[dict[str, Any]]:
    """Return every distribution of this name on the path, nearest first, each folder once."""
    found: dict[str, dict[str, Any]] = {}
    for item in metadata.distributions(name=name):
        place = os.path.realpath(str(item.locate_file("")))
        entry: dict[str, Any] = {"version": item.version, "place": place}
        try:
            entry["direct_url"] = json.loads(item.read_text("direct_url.json") or "null")
        except ValueError as error:
            entry["fault"] = repr(error)[:200]
        found.setdefault(os.path.realpath(str(getattr(item, "_path", place))), entry)
    return list(found.values())


def elsewhere(module: str, origin: str) -> list[str]:
    """Return the other files on the path that would be imported if `origin` were not there."""
    specs = (machinery.PathFinder.find_spec(module, [entry or os.curdir]) for entry in sys.path)
    return [path for path in dict.fromkeys(map(origin_of, specs)) if path and path != origin]


def package(name: str, module: str) -> dict[str, Any]:
    """Return what is known of one distribution and of the module that it brings."""
    entry: dict[str, Any] = {"module": module}
    try:
        entry["distributions"] = distributions(name)
        spec = util.find_spec(module)
        entry["origin"] = origin_of(spec)
        if spec is not None and not entry["origin"]:
            entry["namespace"] = [os.path.realpath(place) for place in spec.submodule_search_locations or ()]
        entry["elsewhere"] = elsewhere(module, entry["origin"])
    except Exception as error:  # noqa: BLE001 - a finder of somebody else's may raise anything
        entry["fault"] = repr(error)[:200]
    return entry


def main() -> None:
    """Print one line: the mark, then JSON."""
    mark, asked = sys.argv[1], json.loads(sys.argv[2])
    said = {
        "executable": sys.executable,
        "version": platform.python_version(),
        "override": os.environ.get("VLLM_VERSION"),
        "packages": {name: package(name, module) for name, module in asked.items()},
    }
    sys.stdout.write("\n" + mark + json.dumps(said) + "\n")


main()
