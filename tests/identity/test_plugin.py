"""What the plugin's files say: a row per form that speaks and per form that must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.identity.candidates import KINDS
from git_afd.core.identity.plugin import kind_of, plugin_candidates, wanted_paths

SHA = "80d8c194f7584b17fe08065ea99a130916f6b0e7"
LOCK = '[[package]]\nname = "other"\nversion = "1"\n\n[[package]]\nname = "vllm"\nversion = "0.19.1"\n'
GIT_LOCK = f'[[package]]\nname = "vllm-ascend"\nversion = "0"\nsource = {{ git = "https://x/y?rev=v1#{SHA}" }}\n'
POETRY_LOCK = f'[[package]]\nname = "vllm"\nversion = "0"\n[package.source]\nresolved_reference = "{SHA}"\n'
UV_SOURCE = '[tool.uv.sources]\nvllm-ascend = { git = "https://x/y", tag = "v0.19.1rc1" }\n'
TABLE = "| Component | Version |\n| --- | --- |\n| Python | `3.11` |\n| vLLM | `0.19.1` |\n"
COMMIT_TABLE = (
    f"| Part | Revision |\n|---|---|\n| vLLM-Ascend | commit [`80d8c194f`](https://x/vllm-ascend/commit/{SHA}) |\n"
)
COLUMNS = "| AFD | vLLM | vLLM-Ascend |\n|-----|------|-------------|\n| 1.0 | v0.19.1 | v0.19.1rc1 |\n"

SPEAKS = [
    # an exact pin in an extra
    ("pyproject.toml", '[project.optional-dependencies]\nvllm = ["vllm==0.19.1"]\n', "pin", "vllm", "0.19.1", 2),
    # a plain dependency, with an extra of its own and a marker
    (
        "pyproject.toml",
        "[project]\ndependencies = [\"vllm[audio]==0.19.1 ; python_version > '3'\"]",
        "pin",
        "vllm",
        "0.19.1",
        2,
    ),
    # a dependency group
    ("pyproject.toml", '[dependency-groups]\nnpu = ["vllm-ascend==0.19.1rc1"]\n', "pin", "vllm-ascend", "0.19.1rc1", 2),
    # another spelling of the package's name
    ("pyproject.toml", '[project]\ndependencies = ["vllm_ascend==0.19.1rc1"]\n', "pin", "vllm-ascend", "0.19.1rc1", 2),
    # a direct reference to a tag
    (
        "pyproject.toml",
        '[project]\ndependencies = ["vllm @ git+https://x/y.git@v0.19.1"]\n',
        "pin",
        "vllm",
        "v0.19.1",
        2,
    ),
    # uv's own source table
    ("pyproject.toml", UV_SOURCE, "pin", "vllm-ascend", "v0.19.1rc1", 2),
    # requirements with a comment and with hashes
    ("requirements.txt", "numpy\nvllm==0.19.1  # runtime\n", "pin", "vllm", "0.19.1", 2),
    ("requirements-npu.txt", "vllm==0.19.1 --hash=sha256:00\n", "pin", "vllm", "0.19.1", 1),
    # a setup script
    ("setup.py", 'extras = {"vllm": ["vllm==0.19.1"]}\n', "pin", "vllm", "0.19.1", 1),
    # a registry package in a lockfile
    ("uv.lock", LOCK, "lockfile", "vllm", "0.19.1", 6),
    # a git package in uv's and in poetry's lockfile: the commit, not the version
    ("uv.lock", GIT_LOCK, "lockfile", "vllm-ascend", SHA, 2),
    ("poetry.lock", POETRY_LOCK, "lockfile", "vllm", SHA, 2),
    # a version constant, annotated or plain, for either upstream
    ("p/compat.py", 'TARGET_VLLM_VERSION: Final[str] = "0.19.1"\n', "constant", "vllm", "0.19.1", 1),
    ("p/compat.py", "\nVLLM_ASCEND_TAG = 'v0.19.1rc1'\n", "constant", "vllm-ascend", "v0.19.1rc1", 2),
    # a source annotation that names a file at a tag
    (
        "p/a.py",
        '"""X.\n\nUpstream source: ``vllm_ascend/platform.py`` at tag ``v0.19.1rc1``.\n"""',
        "annotation",
        "vllm-ascend",
        "v0.19.1rc1",
        3,
    ),
    # the same at a short commit
    (
        "p/a.py",
        "# Upstream source: ``vllm_ascend/platform.py`` at commit ``80d8c194f``.\n",
        "annotation",
        "vllm-ascend",
        "80d8c194f",
        1,
    ),
    # wrapped over two comment lines
    ("p/a.py", "# Upstream source: ``vllm/v1/engine.py``\n# at tag ``v0.19.1``.\n", "annotation", "vllm", "v0.19.1", 2),
    # a label with name and version
    ("p/a.py", "    # Upstream: vLLM v0.26.0, vllm/model_executor/x.py\n", "annotation", "vllm", "v0.26.0", 1),
    # a label with name and commit
    (
        "p/a.py",
        "    # Upstream source: vllm-ascend commit 80d8c194f,\n    # Runner.method.\n",
        "annotation",
        "vllm-ascend",
        "80d8c194f",
        1,
    ),
    # a label with a permanent link
    (
        "p/a.py",
        f"# Upstream source: https://github.com/vllm-project/vllm/blob/{SHA}/vllm/x.py\n",
        "annotation",
        "vllm",
        SHA,
        1,
    ),
    # a component table
    ("README.md", TABLE, "support-matrix", "vllm", "0.19.1", 4),
    ("README.md", COMMIT_TABLE, "support-matrix", "vllm-ascend", SHA, 3),
    # a table with a column per upstream
    ("docs/support.md", COLUMNS, "support-matrix", "vllm-ascend", "v0.19.1rc1", 3),
    # prose in installation documents
    ("README.md", "The target runtime is **vLLM `v0.19.1`**.\n", "install-doc", "vllm", "v0.19.1", 1),
    ("INSTALL.rst", "Install vLLM version 0.19.1 first.\n", "install-doc", "vllm", "0.19.1", 1),
    # a requirement in prose
    ("README.md", "The extra pins `vllm==0.19.1`.\n", "install-doc", "vllm", "0.19.1", 1),
    # a link to a tag
    (
        "README.md",
        "[guide](https://github.com/vllm-project/vllm-ascend/blob/v0.19.1rc1/x.md)\n",
        "install-doc",
        "vllm-ascend",
        "v0.19.1rc1",
        1,
    ),
    # an image tag with its device family and system
    (
        "README.md",
        "docker pull quay.io/ascend/vllm-ascend:v0.19.1rc1-a3-openeuler\n",
        "install-doc",
        "vllm-ascend",
        "v0.19.1rc1",
        1,
    ),
    ("README.md", "docker pull quay.io/ascend/vllm-ascend:v0.18.0-a3\n", "install-doc", "vllm-ascend", "v0.18.0", 1),
    # a branch is not evidence, the commit beside it is
    (
        "docs/npu/USER_GUIDE.md",
        "- vLLM-Ascend branch `releases/v0.26.0rc` at commit `80d8c194f`;\n",
        "install-doc",
        "vllm-ascend",
        "80d8c194f",
        1,
    ),
    # a clone of a tag
    (
        "README.md",
        "git clone -b v0.19.1 https://github.com/vllm-project/vllm.git\n",
        "install-doc",
        "vllm",
        "v0.19.1",
        1,
    ),
    (
        "README.md",
        "git clone https://github.com/vllm-project/vllm --branch v0.19.1\n",
        "install-doc",
        "vllm",
        "v0.19.1",
        1,
    ),
    # recipes, whatever form they use
    (
        "recipe/npu/README.md",
        "- Image: `quay.io/ascend/vllm-ascend:v0.19.1rc1-a3-openeuler`.\n",
        "recipe",
        "vllm-ascend",
        "v0.19.1rc1",
        1,
    ),
    ("recipe/run.sh", "export VLLM_TAG=v0.19.1\n", "recipe", "vllm", "v0.19.1", 1),
    # containers
    (
        "docker/Dockerfile.npu",
        "FROM quay.io/ascend/vllm-ascend:v0.19.1rc1\n",
        "container",
        "vllm-ascend",
        "v0.19.1rc1",
        1,
    ),
    ("Dockerfile", "ARG VLLM_ASCEND_COMMIT=80d8c194f\n", "container", "vllm-ascend", "80d8c194f", 1),
    # CI configuration
    (".github/workflows/npu.yml", "env:\n  VLLM_VERSION: v0.19.1\n", "ci", "vllm", "v0.19.1", 2),
    (
        ".github/workflows/npu.yml",
        "image: quay.io/ascend/vllm-ascend:v0.19.1rc1\n",
        "ci",
        "vllm-ascend",
        "v0.19.1rc1",
        1,
    ),
]

SILENT = [
    # a range pins nothing
    ("pyproject.toml", '[project]\ndependencies = ["vllm>=0.19,<0.20"]\n'),
    # neither does a wildcard
    ("pyproject.toml", '[project]\ndependencies = ["vllm==0.19.*"]\n'),
    # nor a branch
    ("pyproject.toml", '[project]\ndependencies = ["vllm @ git+https://x/y.git@main"]\n'),
    # a package whose name only begins alike
    ("pyproject.toml", '[project]\ndependencies = ["vllm-afd-plugin==0.19.1", "vllm-flash==0.19.1"]\n'),
    # a bound is no version in use
    ("p/compat.py", 'MIN_VLLM_VERSION = "0.18.0"\nUNSUPPORTED_VLLM_VERSION = "0.17.0"\n'),
    # a version check in code
    ("p/compat.py", 'legacy = module.vllm_version_is("0.19.1")\n'),
    # a constant of something else
    ("p/compat.py", 'MY_VERSION = "0.19.1"\nVLLM_HOST_REF_X = "0.19.1"\n'),
    # "Copied from" tells where it came from, not what is in use
    ("p/a.py", f'"""Copied from vLLM-Ascend commit {SHA};\nkept here."""\n'),
    ("p/a.py", f"# Upstream source: copied from vllm-ascend commit {SHA}\n"),
    # the whole sentence of a copy is provenance
    ("p/a.py", '"""Originally copied from vLLM-Ascend commit\n``cdd2128`` and aligned at commit ``80d8c194f``."""\n'),
    # an annotation about the past
    ("p/a.py", "# Upstream source: the former ``vllm_ascend/x.py`` at tag ``v0.18.0``.\n"),
    # an annotation without a revision
    ("p/a.py", '"""Upstream source: ``vllm_ascend/attention/mla_v1.py``."""\n'),
    # an annotation that names no upstream
    ("p/a.py", "# The schema at commit ``80d8c194f`` differs.\n"),
    # the next label's words do not belong to the annotation
    ("p/a.py", "# Upstream source: vllm/x.py\n# Patch reason: vLLM 0.19.1 resets it\n"),
    # an address to listen on
    ("recipe/run.sh", "vllm serve model --host 0.0.0.0 --port 8000\n"),
    # a branch name, the plugin's own and the upstream's
    ("README.md", "Use the branch `release/v0.19.1rc1` of vLLM-Ascend, or vLLM-Ascend branch `releases/v0.26.0rc`.\n"),
    # the version that a development build reports
    ("docs/npu/USER_GUIDE.md", "The vLLM-Ascend package in that image still reports a `0.19.1rc2.dev1327` version.\n"),
    ("docs/npu/USER_GUIDE.md", "vLLM-Ascend 0.19.1rc2.dev1327\n"),
    # the past
    ("docs/npu/USER_GUIDE.md", "> measured with the former vLLM/vLLM-Ascend 0.19.1\n> environment.\n"),
    ("README.md", "Do not reuse the former quay.io/ascend/vllm-ascend:v0.19.1rc1 image.\n"),
    # another version than the one in use
    ("README.md", "- vLLM versions other than `0.19.1` are not claimed.\n- Not vLLM 0.18.0.\n"),
    # a series is no version
    ("README.md", "vLLM 0.26 and vLLM-Ascend v0.26 remove it.\n"),
    # a nightly image and a main link move
    ("README.md", "docker pull quay.io/ascend/vllm-ascend:nightly-main-a3-openeuler\n"),
    ("README.md", "https://github.com/vllm-project/vllm-ascend/blob/main/examples/x.py\n"),
    # a table of something else
    ("README.md", "| Connector | Notes |\n|---|---|\n| CAM | 0.19.1 |\n"),
    # tests list unsupported versions too
    ("tests/unit/test_package.py", 'VLLM_VERSION = "0.19.0"\n'),
    ("p/test_x.py", 'TARGET_VLLM_VERSION = "0.19.0"\n'),
    # templates for issues are no configuration of anything
    (".github/ISSUE_TEMPLATE/bug.yml", "afd targets vLLM v0.19.1\n"),
    (".github/PULL_REQUEST_TEMPLATE.md", "- [ ] vLLM v0.19.1 is considered.\n"),
    # design documents and plans weigh other versions on purpose
    ("docs/design/compatibility.md", "vLLM `0.13.0` is the reference.\n"),
    ("docs/npu/GAP_ANALYSIS.md", "vLLM `0.13.0` is the reference.\n"),
    # lessons and change logs are history
    (".agents/skills/upgrade-npu/references/20260801-lessons.md", "from vLLM v0.19.1 to vLLM v0.26.0\n"),
    ("CHANGELOG.md", "vLLM v0.19.1\n"),
]


@pytest.mark.parametrize(("path", "text", "kind", "upstream", "said", "line"), SPEAKS)
def test_form_speaks(path: str, text: str, kind: str, upstream: str, said: str, line: int) -> None:
    found = [(one.kind, one.upstream, one.text, one.line) for one in plugin_candidates({path: text})]
    assert (kind, upstream, said, line) in found


@pytest.mark.parametrize(("path", "text"), SILENT)
def test_false_candidate_is_silent(path: str, text: str) -> None:
    assert plugin_candidates({path: text}) == ()


@pytest.mark.parametrize("path", ["pyproject.toml", "uv.lock"])
def test_unparsable_metadata_gives_an_unreadable_candidate_per_upstream(path: str) -> None:
    found = plugin_candidates({path: "[project\n"})
    assert [(one.upstream, one.text) for one in found] == [("vllm", ""), ("vllm-ascend", "")]
    assert all("TOML" in one.note for one in found)


def test_candidates_come_strongest_kind_first_in_the_order_of_the_workflow() -> None:
    texts = {path: text for path, text, *_ in SPEAKS}
    found = plugin_candidates(texts)
    kinds = list(dict.fromkeys(one.kind for one in found))
    assert kinds == [kind for kind in KINDS if kind in kinds]
    assert [one.rank for one in found] == sorted(one.rank for one in found)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        # metadata only at the root: a vendored project's pins are not the plugin's
        ("pyproject.toml", "pin"),
        ("third_party/x/pyproject.toml", ""),
        ("third_party/x/uv.lock", ""),
        ("docs/requirements-docs.txt", "install-doc"),
        # a README speaks wherever it stands, code wherever it stands
        ("p/connectors/README.md", "install-doc"),
        ("p/deep/down/x.py", "annotation"),
        # scripts outside recipes and CI do not speak
        ("tools/run.sh", ""),
        # binary names and odd names
        ("p/lib.whl", ""),
        ("", ""),
        ("/", ""),
    ],
)
def test_path_can_hold_kind(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_only_files_that_can_speak_are_wanted() -> None:
    assert wanted_paths(["uv.lock", "tests/a.py", "b.png", "a.py"]) == ("a.py", "uv.lock")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        # deeper than the parsers' recursion
        ("pyproject.toml", "a = " + "[" * 5000),
        ("requirements.txt", "vllm==0.19.1; " + "(" * 5000),
        # more digits than int() takes
        ("requirements.txt", "vllm==" + "1" * 5000),
        ("README.md", "vLLM 0.19." + "1" * 5000),
        # line ends of other systems, and characters that only some functions take for line ends
        ("README.md", "a\u2028b\x0c\r\n| vLLM\u2028| x |\r\n|---|---|\r\n"),
        # digits of other scripts
        ("README.md", "vLLM \u0660.\u0661\u0669.\u0661"),
    ],
)
def test_hostile_content_says_nothing_and_does_not_raise(path: str, text: str) -> None:
    assert [one.text for one in plugin_candidates({path: text}) if one.text] == []


def test_carriage_returns_do_not_move_lines() -> None:
    found = plugin_candidates({"README.md": TABLE.replace("\n", "\r\n")})
    assert [(one.text, one.line) for one in found] == [("0.19.1", 4)]


_PIECES = st.sampled_from(
    [
        "vLLM ",
        "vllm-ascend",
        "==",
        "v0.19.1",
        " at commit ",
        "80d8c194f",
        "``",
        "|",
        "\n",
        "#",
        "Upstream source:",
        "copied from ",
    ]
)


@given(st.sampled_from(sorted({path for path, *_ in SPEAKS})), st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_any_content_is_read_without_raising_and_lines_exist(path: str, text: str) -> None:
    for one in plugin_candidates({path: text}):
        assert 1 <= one.line <= text.count("\n") + 1
        assert one.text in text
