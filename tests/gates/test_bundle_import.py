"""Evidence from elsewhere: recorded by the same command on another host, carried over as one file, judged again."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import accuracy_policy, command, gate, npu_host, python, shown, upgrade
from kit import Kit, Repo, run
from kit_upgrade import BRANCH, PRODUCTION, FrozenUpgrade

BEFORE = "NPU_BASIC_E2E_GATE"
PHASE = "NPU_ACCURACY_GATE"


@pytest.fixture
def up(kit: Kit) -> FrozenUpgrade:
    """An upgrade that waits for its accuracy, on a host without an NPU."""
    return upgrade(kit, accuracy_policy(), up_to=BEFORE)


def clone_with_ledger(up: FrozenUpgrade, folder: Path) -> Repo:
    """Clone the plugin as the NPU host has it: the branch, and the ledger to read."""
    run(["git", "clone", "-q", "-b", BRANCH, str(up.plugin.path), str(folder / "npu")], folder).ok()
    there = Repo(folder / "npu")
    there("git fetch -q origin refs/notes/afd/ledger:refs/notes/afd/ledger")
    return there


def recorded(up: FrozenUpgrade, folder: Path, *options: str, gate: str = "accuracy", simulated: bool = False) -> Path:
    """Make a bundle on the other host and return it."""
    there = clone_with_ledger(up, folder)
    before = there("git rev-parse refs/notes/afd/ledger")
    targets = (f"--target=vllm={up.vllm.path}", f"--target=vllm-ascend={up.ascend.path}")
    env = npu_host(folder, simulated=simulated)
    there.afd(["gate", gate, "--bundle", "../evidence.afd", *targets, *options], env=env).ok()
    assert there("git rev-parse refs/notes/afd/ledger") == before  # read, and not written
    return folder / "evidence.afd"


def test_a_bundle_from_an_npu_host_is_judged_here_from_its_raw_files(up: FrozenUpgrade, tmp_path: Path) -> None:
    bundle = recorded(up, tmp_path)
    done = gate(up, "accuracy", "--from", str(bundle), "--json").ok()
    data = done.json["data"]
    assert (data["status"], data["origin"], data["metrics"]["graph"]["effective"]) == ("PASS", "imported", 1319)
    row = shown(up, PHASE)
    assert (row["status"], row["evidence"]) == ("PASS", [up.upgrade.runs[data["run"]].record])
    tip = up.session.ledger.tip()
    assert gate(up, "accuracy", "--from", str(bundle)).code == 0
    assert up.session.ledger.tip() == tip  # the same bundle again changes nothing
    other = rewritten(bundle, of_raw(environment={"AFD_ROLE": "ffn"}))  # another run with the same results
    done = gate(up, "accuracy", "--from", str(other), "--dry-run")
    assert (done.code, f"that of run {data['run']}, not of this one" in done.out) == (6, True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[FrozenUpgrade, Path]:
    """An upgrade that waits for its accuracy and a bundle of it; tests that share it record nothing."""
    folder = tmp_path_factory.mktemp("site")
    waiting = upgrade(Kit(folder), accuracy_policy(), up_to=BEFORE)
    return waiting, recorded(waiting, folder)


def test_a_dry_run_of_an_import_writes_nothing(site: tuple[FrozenUpgrade, Path]) -> None:
    up, bundle = site
    before = {path: path.read_bytes() for path in up.plugin.path.rglob("*") if path.is_file()}
    gate(up, "accuracy", "--from", str(bundle), "--dry-run").ok()
    assert before == {path: path.read_bytes() for path in up.plugin.path.rglob("*") if path.is_file()}


def members(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]  # all are files


def rewritten(bundle: Path, change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Path:
    """Return a copy of a bundle with other members."""
    path = bundle.with_name("forged.afd")
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in change(members(bundle)).items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


Files = dict[str, bytes]


def header_of(files: Files) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(files["header.json"])
    return body


def raw_name(files: Files, name: str = "eager/results_1.json") -> str:
    return f"artifacts/{header_of(files)['artifacts'][name]}"


def deleted(files: Files) -> Files:
    return {name: data for name, data in files.items() if name != raw_name(files)}


def altered(files: Files) -> Files:
    return {**files, raw_name(files): files[raw_name(files)].replace(b"0.5", b"0.9")}


def swapped(files: Files) -> Files:
    header = header_of(files)
    names = header["artifacts"]
    eager, graph = "eager/results_1.json", "graph/results_1.json"
    names[eager], names[graph] = names[graph], names[eager]
    return {**files, "header.json": json.dumps(header).encode()}


def claiming(**claims: object) -> Callable[[Files], Files]:
    """Return a change of what the header says."""
    return lambda files: {**files, "header.json": json.dumps({**header_of(files), **claims}).encode()}


def replaced(files: Files, name: str, data: bytes) -> Files:
    """Return a bundle in which one raw file is another one and everything that names it was changed along."""
    header, digest = header_of(files), hashlib.sha256(data).hexdigest()
    old, header["artifacts"][name] = header["artifacts"][name], digest
    kept = {one: two for one, two in files.items() if one != f"artifacts/{old}" or old in header["artifacts"].values()}
    made = {**kept, "header.json": json.dumps(header).encode(), f"artifacts/{digest}": data}
    if name == "run.json":
        return made
    body = json.loads(made[raw_name(made, "run.json")])
    body["artifacts"][name] = digest
    return replaced(made, "run.json", json.dumps(body).encode())


def of_raw(**facts: object) -> Callable[[Files], Files]:
    """Return a change of the run's raw facts, well forged: every digest fits."""

    def change(files: Files) -> Files:
        body = json.loads(files[raw_name(files, "run.json")])
        own = {name: value for name, value in facts.items() if name in body["identity"]}
        body["identity"] |= own
        body |= {name: value for name, value in facts.items() if name not in own}
        named = {key: value for key, value in own.items() if key in ("commit", "tree")}
        return claiming(**named)(replaced(files, "run.json", json.dumps(body).encode()))

    return change


def seven(files: Files) -> Files:
    """Return a bundle of a run on seven samples whose header and records say that it passed in full."""
    body = json.loads(files[raw_name(files)])
    body["n-samples"]["gsm8k"] |= {"effective": 7}
    made = replaced(files, "eager/results_1.json", json.dumps(body).encode())
    said = claiming(status="PASS", metrics={"eager": {"full": True}}, counts={"passed": 1319})(made)
    return {**said, "records.jsonl": b'{"kind":"phase","body":{"phase":"NPU_ACCURACY_GATE","status":"PASS"}}\n'}


FORGED = [
    (deleted, 6, "is named and not there"),
    (altered, 6, "has other bytes than its name says"),
    (swapped, 6, "names other files than the bundle holds"),  # one mode's file for the other's
    (claiming(commit="0" * 40), 3, "another commit than its own header says"),
    (claiming(gate="basic"), 3, "gate accuracy, although its header says basic"),  # it says one thing and holds another
    (seven, 6, "7 of 1319 samples"),  # what it says of itself is not believed
    (claiming(status="FAIL", host={"npu": {"state": "absent"}}), 0, ""),  # for the worse neither
    (of_raw(policy="0" * 64), 3, "under another policy than the frozen one"),
    (of_raw(commits="0" * 64), 3, "against other upstream commits than the frozen four"),
    (of_raw(upgrade="U-other"), 3, "upgrade U-other, not of"),
    (of_raw(tree="0" * 40), 3, "does not hold what commit"),
    (of_raw(commit="0" * 40), 6, "is not here"),
    (of_raw(environment={"AFD_GSM8K_LIMIT": "7"}), 6, "AFD_GSM8K_LIMIT lowers what accuracy measures"),
    (of_raw(cell="native"), 6, "is no command of this gate"),  # it neither was one nor counts as the other
    (of_raw(commands=[]), 6, "eager has not run as the policy says"),
    (of_raw(disturbed=["HEAD moved"]), 6, "HEAD moved"),
]


@pytest.mark.parametrize(("change", "code", "text"), FORGED)
def test_a_bundle_that_was_changed_is_refused_or_judged_by_its_raw_files(
    site: tuple[FrozenUpgrade, Path], change: Callable[[Files], Files], code: int, text: str
) -> None:
    up, bundle = site
    done = gate(up, "accuracy", "--from", str(rewritten(bundle, change)), "--dry-run")
    assert done.code == code, done.out + done.err
    assert text in done.err + done.out


def test_a_bundle_of_other_content_is_refused(up: FrozenUpgrade, tmp_path: Path) -> None:
    bundle = recorded(up, tmp_path)
    up.plugin.commit("later", {PRODUCTION: "def step(self, batch):\n    return [batch]\n"})
    up.pass_up_to(BEFORE)
    done = gate(up, "accuracy", "--from", str(bundle))
    assert done.code == 3
    assert "evidence of other content than HEAD's" in done.err


def test_a_docs_commit_after_the_run_does_not_matter(up: FrozenUpgrade, tmp_path: Path) -> None:
    bundle = recorded(up, tmp_path)
    up.plugin.commit("docs", {"docs/guide.md": "Other words.\n"})
    gate(up, "accuracy", "--from", str(bundle)).ok()
    assert shown(up, PHASE)["status"] == "PASS"


def test_a_bundle_of_another_gate_is_refused(kit: Kit, tmp_path: Path) -> None:
    table = "[gates.basic]\nnpu = true\n" + command("basic", "e2e", *python("pass"))
    up = upgrade(kit, accuracy_policy().replace("[gates.accuracy]", table + "[gates.accuracy]", 1), up_to=BEFORE)
    bundle = recorded(up, tmp_path, gate="basic")
    done = gate(up, "accuracy", "--from", str(bundle))
    assert done.code == 3
    assert "evidence of gate basic, not of accuracy" in done.err


def test_the_order_of_phases_is_asked_when_a_bundle_is_read(kit: Kit, tmp_path: Path) -> None:
    up = upgrade(kit, accuracy_policy(), up_to="STATIC_AND_UNIT_GATE")
    done = gate(up, "accuracy", "--from", str(recorded(up, tmp_path)))
    assert done.code == 3
    assert "TARGET_NATIVE_NPU_CONTROL is not run" in done.err


def test_a_bundle_from_a_simulated_host_needs_a_policy_that_accepts_it(kit: Kit, tmp_path: Path) -> None:
    up = upgrade(kit, accuracy_policy(simulated=True), up_to=BEFORE)
    done = gate(up, "accuracy", "--from", str(recorded(up, tmp_path, simulated=True)), "--json").ok()
    assert done.json["data"]["simulated"]
    assert up.upgrade.runs[done.json["data"]["run"]].simulated


def test_a_host_without_the_target_trees_is_told_how_to_name_them(up: FrozenUpgrade, tmp_path: Path) -> None:
    there = clone_with_ledger(up, tmp_path)
    up.vllm.path.rename(up.vllm.path.with_name("elsewhere"))
    done = there.afd("gate accuracy --bundle ../evidence.afd", env=npu_host(tmp_path))
    assert done.code == 6
    assert "--target vllm=DIR" in done.err


def test_a_bundle_is_not_written_over(up: FrozenUpgrade, tmp_path: Path) -> None:
    (tmp_path / "evidence.afd").write_text("mine")
    done = gate(up, "accuracy", "--bundle", "../evidence.afd", env=npu_host(tmp_path))
    assert done.code == 3
    assert (tmp_path / "evidence.afd").read_text() == "mine"
