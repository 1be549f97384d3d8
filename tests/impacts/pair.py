"""The fixture upstream at two versions (``upstream/current``, ``upstream/target``) and contracts written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from git_afd.core.contracts.model import Contract, Kind, Place, Target, contract_id
from git_afd.core.contracts.uses import Use
from git_afd.core.impacts.compare import compare
from git_afd.core.impacts.effect import Effect
from git_afd.core.impacts.sides import Side
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Tree, module_paths
from git_afd.core.source.world import PLUGIN, World

HERE = Path(__file__).parent / "upstream"
RENAMES = {"vllm": {"up/before_rename.py": "up/after_rename.py", "up/parser.py": "up/other_parser.py"}}


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.py"))}


def tree(texts: Mapping[str, str], versions: Mapping[str, str]) -> Tree:
    paths = module_paths(list(texts))
    names = {path: name for name, path in paths.items()}

    def load(path: str) -> Module | Unreadable:
        package = path.endswith("__init__.py")
        return index_module(texts[path], names[path], is_package=package, versions=versions)

    return Tree(paths, load)


def below(package: str, texts: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in texts.items() if path.startswith(f"{package}/")}


def side(upstream: Mapping[str, str], plugin: Mapping[str, str], version: str) -> Side:
    """Return one side: the upstream (``up/``), another one that patches it (``other/``), and the plugin."""
    parts = {"vllm": below("up", upstream), "vllm-ascend": below("other", upstream)}
    texts, versions = {**parts, PLUGIN: plugin}, {"vllm": version}
    corpora = {who: {path: text.encode() for path, text in part.items()} for who, part in parts.items()}
    world = World({PLUGIN: tree(plugin, {}), **{who: tree(part, versions) for who, part in parts.items()}})
    torch = {"vllm": {"1.0": "2.10.0", "2.0": "2.11.0"}[version]}
    return Side(world, lambda who, path: texts.get(who, {}).get(path), lambda who: corpora[who], versions, torch)


@cache
def sides() -> tuple[Side, Side]:
    plugin = files(HERE / "plugin")
    current, target = files(HERE / "current"), files(HERE / "target")
    current["up/broken.py"], target["up/broken.py"] = "def broken(): ...", "def broken(:"  # no formatter reads that
    current["up/brackets.py"], target["up/brackets.py"] = "SPELT = 1 if a else 2", "SPELT = (1 if a else(2))"
    return side(current, plugin, "1.0"), side(target, plugin, "2.0")


def contract(kind: Kind, upstream: str, *uses: Use, plugin: str = "plug.py::user", named: str = "") -> Contract:
    """Write a contract down: `upstream` and `plugin` as ``path::symbol``."""
    path, _, symbol = upstream.partition("::")
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    target = Target("vllm", path, symbol, module if path else "", named)
    where, _, mine = plugin.partition("::")
    place = Place(where, mine, 1, 1)
    return Contract(contract_id(kind, target, place), kind, place, target, tuple(uses))


def effect_of(item: Contract) -> Effect:
    return compare(item, sides(), RENAMES)
