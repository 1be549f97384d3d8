"""What ``git afd verify --patches`` finds: one row per rule, on both sides; and how it is called."""

# ruff: noqa: E501 - a row of a table holds whole files

from __future__ import annotations

import time

import pytest
from kit import Kit, Repo, call
from kit_upgrade import PRODUCTION, frozen

from git_afd.core.patch_checks.check import patch_findings
from git_afd.core.patch_checks.model import Against, Checked, PatchedFile
from git_afd.core.patch_checks.unchecked import unchecked
from git_afd.core.source.definitions import Module, Unreadable
from git_afd.core.source.index import index_module
from git_afd.core.source.lookup import Tree

UPSTREAM = """
class Engine:
    def step(self, batch: list, *, dbo: bool = False) -> int:
        size = getattr(batch, "size", 0)
        return size


def launch(config):
    return config
"""
HEADER = """# Patch reason: it counts.
# Patch functionality: counts first.
# Signature: matches upstream.
# Upstream source: ``vllm/engine.py`` ``Engine.step`` at ``v1.0.0``.
"""
BODY = """def step(self, batch: list, *, dbo: bool = False) -> int:
    # ### PATCH START: count
    count(batch)
    # ### PATCH END: count
    size = getattr(batch, "size", 0)
    return size
"""
INSTALL = "\n\nengine_module.Engine.step = step\n"
HEAD = "import vllm.engine as engine_module\n\n\n"
GOOD = HEAD + HEADER + BODY + INSTALL


def _tree(texts: dict[str, str]) -> Tree:
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts}
    back = {path: name for name, path in names.items()}

    def load(path: str) -> Module | Unreadable:
        return index_module(texts[path], back[path], is_package=path.endswith("__init__.py"))

    return Tree(names, load)


def checked(text: str, base: str | None = None, *, at_hand: bool = True) -> Checked:
    """Check one file of the plugin against the small upstream."""
    upstream = {"vllm/__init__.py": "", "vllm/engine.py": UPSTREAM}
    plugin = _tree({"afd_plugin/__init__.py": "", "afd_plugin/patch.py": text})
    missing = {} if at_hand else {"vllm": "no source of vllm is at hand"}
    trees = {"vllm": _tree(upstream)} if at_hand else {}
    against = Against(plugin, trees, lambda _, path: upstream.get(path), {}, {"vllm": ("v1.0.0",)}, missing)
    return patch_findings([PatchedFile("afd_plugin/patch.py", "afd_plugin.patch", text, base)], against)


# what is wrong, the text, the codes found
ROWS = [
    ("nothing", GOOD, []),
    ("a file without patches", "import os\n\n\ndef f():\n    return os.name\n", []),
    ("a block without an end", GOOD.replace("    # ### PATCH END: count\n", ""), ["marker-unbalanced"]),
    ("an end without a start", GOOD.replace("    # ### PATCH START: count\n", ""), ["marker-unbalanced"]),
    ("an end under another label", GOOD.replace("END: count", "END: other"), ["marker-unbalanced"]),
    ("an end without a label is a note", GOOD.replace("END: count", "END"), ["marker-unlabelled"]),
    ("a parameter less", GOOD.replace(", *, dbo: bool = False", ""), ["signature-different"]),
    ("another default", GOOD.replace("dbo: bool = False", "dbo: bool = True"), ["signature-different"]),
    ("a parameter of another kind", GOOD.replace("*, dbo", "dbo"), ["signature-different"]),
    ("an annotation less", GOOD.replace("batch: list", "batch"), ["signature-annotations"]),
    ("no return annotation", GOOD.replace(") -> int", ")"), ["signature-annotations"]),
    ("no reason", GOOD.replace("# Patch reason: it counts.\n", ""), ["header-incomplete"]),
    ("no header at all", GOOD.replace(HEADER, ""), ["header-incomplete"]),
    ("a source of another version", GOOD.replace("``v1.0.0``", "``v0.9.0``"), ["source-untrue"]),
    ("an installed function without markers", GOOD.replace("    # ### PATCH START: count\n", "").replace("    # ### PATCH END: count\n", "").replace("dbo: bool = False", "dbo=False"), ["signature-annotations"]),
    ("a marked function that states its source but is not installed", GOOD.replace(INSTALL, "").replace("batch: list", "batch"), ["signature-annotations"]),
    ("getattr of its own", GOOD.replace("    count(batch)", "    count(getattr(batch, 'n', 0))"), ["reflection-getattr"]),
    ("hasattr", GOOD.replace("    count(batch)", "    hasattr(batch, 'n')"), ["reflection-hasattr"]),
    ("a broad except", GOOD + "\n\ntry:\n    count()\nexcept Exception:\n    pass\n", ["broad-except"]),
    ("a bare except", GOOD + "\n\ntry:\n    count()\nexcept:\n    pass\n", ["broad-except"]),
    ("a broad one among others", GOOD + "\n\ntry:\n    count()\nexcept (KeyError, Exception):\n    pass\n", ["broad-except"]),
    ("a named except", GOOD + "\n\ntry:\n    count()\nexcept KeyError:\n    pass\n", []),
    ("Any for a parameter", GOOD + "\n\ndef count(batch: Any) -> None: ...\n", ["loose-type"]),
    ("object for what comes back", GOOD + "\n\ndef count(batch: list) -> object: ...\n", ["loose-type"]),
    ("a list of Any is no loose parameter", GOOD + "\n\ndef count(batch: list[Any]) -> None: ...\n", []),
    ("an import that is not there", "from vllm.engine import gone\n" + GOOD, ["import-unresolved"]),
    ("a module that is not there", "import vllm.nothing\n" + GOOD, ["import-unresolved"]),
    ("an import that is there", "from vllm.engine import launch\n" + GOOD, []),
    ("no Python", "def step(:\n", ["patch-unparsable"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "codes"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_patch_file_is_judged_rule_by_rule(text: str, codes: list[str]) -> None:
    found = checked(text)
    assert [item.code for item in found.findings] == codes
    assert found.not_checked == ()


def test_only_added_lines_are_asked_about_reflection_and_imports() -> None:
    old = "from vllm.engine import gone\n" + GOOD.replace("    count(batch)", "    count(getattr(batch, 'n', 0))")
    assert checked(old, old).findings == ()
    (finding,) = checked(old.replace("'n'", "'m'"), old).findings
    assert (finding.code, finding.place) == ("reflection-getattr", "afd_plugin/patch.py:11")


def test_without_a_source_nothing_of_upstream_counts_as_checked() -> None:
    found = checked("from vllm.engine import gone\n" + GOOD, at_hand=False)
    assert found.findings == ()
    assert [item.check for item in found.not_checked] == ["signature", "import", "import"]


def test_what_could_not_be_checked_is_said_once_for_each_reason() -> None:
    more = "\n\n# ### PATCH START: y\n# ### PATCH END: y\n".join(
        f"def {name}(a):\n    # ### PATCH START: x\n    # ### PATCH END: x\n    return a\n" for name in ("one", "two")
    )
    notes = unchecked(checked(more).not_checked)
    assert [item.code for item in notes] == ["not-checked"]
    assert notes[0].message.endswith("the first of 2 is one")
    assert notes[0].remedy.startswith("state '# Upstream source")
    assert "--source" in unchecked(checked(GOOD, at_hand=False).not_checked)[0].remedy


def _repo(kit: Kit, text: str = GOOD) -> tuple[Repo, list[str]]:
    vllm = kit.upstream("vllm", {"v1.0.0": {"vllm/__init__.py": "", "vllm/engine.py": UPSTREAM}})
    plugin = kit.repo("plugin")
    pin = '[project]\nname = "afd-plugin"\nversion = "1"\n[project.optional-dependencies]\nvllm = ["vllm==1.0.0"]\n'
    plugin.commit("base", {"pyproject.toml": pin, "afd_plugin/__init__.py": "", PRODUCTION: text})
    return plugin, ["verify", "--patches", "--source", f"vllm={vllm.path}", "--json"]


def test_every_marked_file_is_held_against_the_plugin_s_own_pin(kit: Kit) -> None:
    plugin, words = _repo(kit)
    done = call(words, plugin.path).ok()
    assert done.json["data"]["files"] == [PRODUCTION]
    assert done.json["data"]["functions"] == 1
    assert set(done.json["data"]["upstreams"]) == {"vllm"}


def test_a_finding_is_exit_1_and_names_line_and_fix(kit: Kit) -> None:
    plugin, words = _repo(kit, GOOD.replace(", *, dbo: bool = False", ""))
    done = call([*words, PRODUCTION], plugin.path)
    assert done.code == 1
    (finding,) = done.json["findings"]
    assert (finding["code"], finding["place"]) == ("signature-different", f"{PRODUCTION}:8")
    assert "vllm/engine.py:3" in finding["remedy"]


def test_what_cannot_be_checked_is_exit_6_and_never_ok(kit: Kit) -> None:
    plugin, _ = _repo(kit)
    done = call(["verify", "--patches", "--json"], plugin.path)
    assert (done.code, done.json["ok"]) == (6, False)
    assert [item["check"] for item in done.json["data"]["not_checked"]] == ["signature"]
    assert done.json["findings"][0]["code"] == "not-checked"


def test_staged_content_counts_and_not_the_work_tree(kit: Kit) -> None:
    plugin, words = _repo(kit)
    assert call([*words, "--staged"], plugin.path).ok().json["data"]["files"] == []
    good = (plugin.path / PRODUCTION).read_text()
    plugin.write(PRODUCTION, good + "\n\nhasattr(step, 'x')\n")
    plugin("git add -A")
    plugin.write(PRODUCTION, good)
    begun = time.monotonic()
    done = call([*words, "--staged"], plugin.path)
    assert time.monotonic() - begun < 3  # a hook's patience, on a busy machine
    assert (done.code, [item["code"] for item in done.json["findings"]]) == (1, ["reflection-hasattr"])
    assert call(words, plugin.path).code == 0


def test_an_open_upgrade_is_checked_against_its_frozen_target(kit: Kit) -> None:
    text = HEAD + HEADER.replace("v1.0.0", "v2.0") + BODY.split("\n", maxsplit=1)[0] + "\n    return batch\n" + INSTALL
    new = text.replace("batch: list, *, dbo: bool = False) -> int", "batch, *, dbo=False)")
    case = frozen(kit, files={PRODUCTION: new})
    assert call(["verify", "--patches", PRODUCTION, "--json"], case.plugin.path).ok().json["data"]["functions"] == 1
    case.plugin.write(PRODUCTION, new.replace("*, dbo=False", "dbo=False"))
    done = call(["verify", "--patches", "--json"], case.plugin.path)
    assert [item["code"] for item in done.json["findings"]] == ["signature-different"]


def test_it_says_what_it_verifies(kit: Kit) -> None:
    plugin, _ = _repo(kit)
    assert call(["verify", "--json"], plugin.path).code == 2
    assert call(["verify", "--patches", "nothing.py", "--json"], plugin.path).code == 2
