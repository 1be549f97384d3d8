"""The stack of a vLLM-Ascend revision: who decides, who only contradicts, and what has to be asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.identity.operators import operator_packages, wheel_fault
from git_afd.core.identity.stack import agrees, read_stack

FAMILY = ("Dockerfile.a3", "Dockerfile.a3.openEuler")
MATRIX = "docs/source/community/versioning_policy.md"
PYPROJECT = (
    '[build-system]\nrequires = [\n  "torch-npu==2.10.0.post2",\n  "torch==2.10.0",\n  "triton-ascend==3.2.1",\n]\n'
)
REQUIREMENTS = "numpy\ntorch==2.10.0\ntorch-npu==2.10.0.post2\ntriton-ascend==3.2.1\n"
IMAGE = (
    'ARG CANN_QUAY_URL="quay.io/ascend/cann"\nARG CANN_VERSION="9.0.1"\nARG BASE_OS="openeuler24.03"\n'
    "FROM ${CANN_QUAY_URL}:${CANN_VERSION}-a3-${BASE_OS}-py3.12\n"
    "ARG MOONCAKE_TAG=0.3.11.post1\nRUN pip install mooncake-transfer-engine-npu==${MOONCAKE_TAG}\n"
    "RUN python3 -m pip uninstall -y triton triton-ascend && \\\n    python3 -m pip install triton-ascend==3.2.1\n"
)
OLD_IMAGE = "FROM quay.io/ascend/cann:8.5.1-a3-openeuler24.03-py3.11\nARG MOONCAKE_TAG=v0.3.8.post1\n"
TEXTS = {"pyproject.toml": PYPROJECT, "requirements.txt": REQUIREMENTS, "Dockerfile.a3": IMAGE}
WHEEL = "p/bin/umdk_cam_op_lib-208.1.0b1-cp311-cp311-linux_aarch64.whl"
ROW = (
    "| vLLM Ascend | vLLM | Python | Stable CANN | PyTorch/torch_npu | Triton Ascend | Mooncake |\n"
    "|---|---|---|---|---|---|---|\n"
    "| v1.0.0 | v1 | >= 3.10, < 3.13 | 9.0.0 | 2.10.0 / 2.10.0 | N/A | v0.3.11.post1 |\n"
)


def values(texts: dict[str, str]) -> dict[str, str]:
    stack = read_stack(texts, family=FAMILY)
    return {member: stated[0].value for member, stated in stack.members.items()}


def test_metadata_speaks_first_and_the_family_images_for_the_rest() -> None:
    stack = read_stack(TEXTS, family=FAMILY)
    assert {member: [(one.value, one.place) for one in stated] for member, stated in stack.members.items()} == {
        "python": [("3.12", "Dockerfile.a3:4")],
        "torch": [("2.10.0", "pyproject.toml:4"), ("2.10.0", "requirements.txt:2")],
        "torch_npu": [("2.10.0.post2", "pyproject.toml:3"), ("2.10.0.post2", "requirements.txt:3")],
        "cann": [("9.0.1", "Dockerfile.a3:4")],
        "triton_ascend": [("3.2.1", "pyproject.toml:5"), ("3.2.1", "requirements.txt:4")],
        "mooncake": [("0.3.11.post1", "Dockerfile.a3:6")],
    }
    assert stack.findings == ()
    assert stack.questions == ()


STATES = [
    # the tag of a literal base image
    ({"Dockerfile.a3": OLD_IMAGE}, {"python": "3.11", "cann": "8.5.1", "mooncake": "v0.3.8.post1"}),
    # a beta of CANN has a dash of its own
    ({"Dockerfile.a3": "FROM x/cann:9.1.0-beta.1-a3-ubuntu22.04-py3.12\n"}, {"python": "3.12", "cann": "9.1.0-beta.1"}),
    # an older spelling of CANN
    (
        {"Dockerfile.a3": "FROM x/cann:8.0.rc3.beta1-910b-ubuntu22.04-py3.10"},
        {"python": "3.10", "cann": "8.0.rc3.beta1"},
    ),
    # an argument without a CANN base image still states CANN
    ({"Dockerfile.a3": "ARG CANN_VERSION=9.0.1\nFROM ubuntu\n"}, {"cann": "9.0.1"}),
    # another device family is not ours
    ({"Dockerfile.310p": IMAGE, "Dockerfile": IMAGE}, {}),
    # a range states no version
    ({"requirements.txt": "torch>=2.5.1\ntorch_npu\n"}, {}),
    # both spellings of a package's name
    ({"requirements.txt": "torch_npu==2.5.1\n"}, {"torch_npu": "2.5.1"}),
    # an image states what metadata does not: a package, a wheel with an escaped local version
    ({"Dockerfile.a3": "RUN pip install 'torch-npu==2.8.0.post1' -i x\n"}, {"torch_npu": "2.8.0.post1"}),
    (
        {"Dockerfile.a3": 'RUN W="torch_npu-2.9.0.post1%2Bgit4c9-${TAG}-${TAG}-manylinux_2_28_${ARCH}.whl"\n'},
        {"torch_npu": "2.9.0.post1+git4c9"},
    ),
    # an argument without a value states nothing
    ({"Dockerfile.a3": "ARG TORCH_NPU_VERSION\nRUN pip install torch-npu==${TORCH_NPU_VERSION}\n"}, {}),
    # the matrix, documentation settings and build files never decide
    ({MATRIX: ROW, "mkdocs.yml": '  main_cann_version: "9.0.0"\n', "setup.py": 'python_requires=">=3.10"'}, {}),
]


@pytest.mark.parametrize(("texts", "stated"), STATES)
def test_files_state_members(texts: dict[str, str], stated: dict[str, str]) -> None:
    assert values(texts) == stated


FINDS = [
    # an image that installs another build than the metadata demands
    (
        {**TEXTS, "Dockerfile.a3": IMAGE + "RUN pip install torch-npu==2.10.0.post4\n"},
        [("stack-contradiction", "Dockerfile.a3:9")],
    ),
    # the revision's own matrix row: one finding per member that differs; ranges, N/A and a leading v do not
    ({**TEXTS, MATRIX: ROW}, [("stack-contradiction", f"{MATRIX}:3"), ("stack-contradiction", f"{MATRIX}:3")]),
    # documentation settings, as dictionary and as YAML
    (
        {**TEXTS, "docs/source/conf.py": '    "main_cann_version": "8.5.0",\n'},
        [("stack-contradiction", "docs/source/conf.py:1")],
    ),
    (
        {**TEXTS, "mkdocs.yml": "extra:\n  cann_image_tag: 9.0.0-910b-ubuntu22.04-py3.11\n"},
        [("stack-contradiction", "mkdocs.yml:2"), ("stack-contradiction", "mkdocs.yml:2")],
    ),
    # placeholders say nothing
    ({**TEXTS, "mkdocs.yml": '  main_cann_version: "{{x9}}"\n'}, []),
    # the build file's own check
    (
        {**TEXTS, "CMakeLists.txt": 'if(NOT ${TORCH_VERSION} VERSION_EQUAL "2.9.0")\n'},
        [("stack-contradiction", "CMakeLists.txt:1")],
    ),
    # a Python range that does not hold the image's Python
    ({**TEXTS, "setup.py": 'python_requires=">=3.9,<3.12"'}, [("stack-contradiction", "setup.py:1")]),
    ({**TEXTS, "setup.py": 'python_requires=">=3.10"'}, []),
    # an image that leaves Triton out for good
    (
        {**TEXTS, "Dockerfile.a3": IMAGE + "RUN pip uninstall -y triton-ascend triton\n"},
        [("stack-removed", "Dockerfile.a3:9")],
    ),
]


@pytest.mark.parametrize(("texts", "found"), FINDS)
def test_weaker_statements_are_findings(texts: dict[str, str], found: list[tuple[str, str]]) -> None:
    stack = read_stack(texts, family=FAMILY, names=["v1.0.0"])
    assert [(one.code, one.place) for one in stack.findings] == found
    assert stack.value("torch_npu") == "2.10.0.post2"


def test_vllm_own_torch_pin_is_no_npu_evidence() -> None:
    stack = read_stack(
        TEXTS, family=FAMILY, vllm_texts={"pyproject.toml": '[build-system]\nrequires = ["torch==2.11.0"]\n'}
    )
    assert stack.value("torch") == "2.10.0"
    assert [one.place for one in stack.findings] == ["vllm:pyproject.toml:2"]


ASKS = [
    # nobody states Triton
    ({"requirements.txt": "torch==2\ntorch-npu==2\n", "Dockerfile.a3": OLD_IMAGE}, ["stack-unstated"]),
    # nobody states anything
    ({}, ["stack-unstated"] * 5),
    # two files of the authoritative kind disagree
    ({**TEXTS, "requirements.txt": "torch==2.9.0\n"}, ["stack-conflict"]),
    # two images of one family disagree about CANN and Python
    ({**TEXTS, "Dockerfile.a3.openEuler": OLD_IMAGE.splitlines()[0]}, ["stack-conflict", "stack-conflict"]),
    # metadata that cannot be parsed is asked about, whatever the other file says
    ({**TEXTS, "pyproject.toml": "[x"}, ["stack-unreadable"]),
    # a package that excludes the image's Python
    ({**TEXTS, "pyproject.toml": PYPROJECT + '[project]\nrequires-python = "<3.12"\n'}, ["stack-python"]),
]


@pytest.mark.parametrize(("texts", "codes"), ASKS)
def test_open_members_are_questions_for_the_architecture_gate(texts: dict[str, str], codes: list[str]) -> None:
    assert sorted(one.code for one in read_stack(texts, family=FAMILY).questions) == sorted(codes)


def test_conflicting_member_has_no_value() -> None:
    assert read_stack({**TEXTS, "requirements.txt": "torch==2.9.0\n"}, family=FAMILY).value("torch") == ""


def test_operator_wheel_for_another_python_is_a_question() -> None:
    stack = read_stack(TEXTS, family=FAMILY, plugin_paths=[WHEEL, "p/bin/CAM_x.run", "p/a.py"])
    assert [(one.name, one.version) for one in stack.operators] == [("CAM_x", ""), ("umdk_cam_op_lib", "208.1.0b1")]
    assert [(one.code, one.place) for one in stack.questions] == [("stack-operator-abi", WHEEL)]
    assert "3.12" in stack.questions[0].message


@pytest.mark.parametrize(
    ("wheel", "python", "fits"),
    [
        # the exact interpreter
        ("x-1-cp312-cp312-linux_aarch64.whl", "3.12", True),
        ("x-1-cp312-cp312-linux_aarch64.whl", "3.12.4", True),
        # another interpreter, older or newer
        ("x-1-cp311-cp311-linux_aarch64.whl", "3.12", False),
        ("x-1-cp313-cp313-linux_aarch64.whl", "3.12", False),
        # the stable ABI fits from its version on
        ("x-1-cp38-abi3-linux_aarch64.whl", "3.12", True),
        ("x-1-cp313-abi3-linux_aarch64.whl", "3.12", False),
        # pure Python
        ("x-1-py3-none-any.whl", "3.12", True),
        ("x-1-py2.py3-none-any.whl", "3.12", True),
        # another implementation
        ("x-1-pp310-pypy310_pp73-linux_aarch64.whl", "3.10", False),
        # digits that are no numbers
        ("x-1-cp3²-abi3-linux_aarch64.whl", "3.12", False),
        # no wheel name, no Python, no version: not judged, so not fitting
        ("x.whl", "3.12", False),
        ("x-1-cp312-cp312-linux_aarch64.whl", "", False),
        ("x-1-cp312-cp312-linux_aarch64.whl", "three", False),
    ],
)
def test_wheel_fits_python(wheel: str, python: str, *, fits: bool) -> None:
    assert (wheel_fault(wheel, python) is None) is fits


@pytest.mark.parametrize(
    ("value", "stated", "agreed"),
    [
        ("3.12", ">= 3.10, < 3.13", True),
        ("3.13", ">= 3.10, < 3.13", False),
        ("8.3.rc2", "8.3.RC2", True),
        # the form of the first years: two ends and a dash
        ("3.10", "3.9 - 3.12", True),
        ("3.8", "3.9 - 3.12", False),
        # nonsense agrees with nothing
        ("3.12", ">=x", False),
        ("9.0.1", "9.0.0", False),
        # more digits than int() takes
        ("3.12", "9" * 5000, False),
        ("3.12", ">=" + "9" * 5000, False),
    ],
)
def test_value_agrees_with_statement(value: str, stated: str, *, agreed: bool) -> None:
    assert agrees(value, stated) is agreed


_PATHS = st.sampled_from([*TEXTS, MATRIX, "mkdocs.yml", "docs/source/conf.py", "CMakeLists.txt", "setup.py"])
_PIECES = st.sampled_from(
    [
        "ARG A",
        "=",
        "FROM ",
        "$A",
        "${A:-",
        "}",
        "torch",
        "==",
        "2.10.0",
        "\n",
        "|",
        "---",
        "main_cann_version",
        ":",
        "\\",
    ]
)


@given(st.dictionaries(_PATHS, st.one_of(st.text(), st.lists(_PIECES).map("".join)), max_size=4), st.lists(st.text()))
def test_any_content_is_read_without_raising(texts: dict[str, str], paths: list[str]) -> None:
    stack = read_stack(
        texts, family=FAMILY, names=["v1.0.0"], plugin_paths=[*paths, *(f"{path}.whl" for path in paths)]
    )
    for statements in stack.members.values():
        assert all(one.value in texts[one.path] or "$" in texts[one.path] for one in statements)


@given(st.lists(st.text()))
def test_any_path_is_looked_at_without_raising(paths: list[str]) -> None:
    assert len(operator_packages(f"{path}.whl" for path in paths)) == len(paths)
