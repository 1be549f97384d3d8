from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kit import run

from git_afd.adapters.bundle import read_bundle, write_bundle
from git_afd.core.evidence.bundle import SCHEMA
from git_afd.core.evidence.fault import EvidenceFault
from git_afd.errors import AfdError, Blocked, EnvironmentFault, Refused

CLAIMS: dict[str, Any] = {"gate": "basic", "commit": "a" * 40, "tree": "b" * 40, "host": {"npu": {"state": "present"}}}
XML, LOG = b"<testsuites/>", b"log\0\xff"
DIGEST = {data: hashlib.sha256(data).hexdigest() for data in (XML, LOG)}


def raw(folder: Path) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    files = {"unit.xml": XML, "logs/unit.log": LOG, "again/unit.xml": XML}
    paths = {name: folder / name.replace("/", "-") for name in files}
    for name, path in paths.items():
        path.write_bytes(files[name])
    return paths


def written(folder: Path, name: str = "x.bundle", **claims: Any) -> Path:
    folder.mkdir(exist_ok=True)
    write_bundle(folder / name, {**CLAIMS, **claims}, ['{"a":1}', '{"b":2}'], raw(folder / "raw"))
    return folder / name


def out(folder: Path) -> Path:
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    return folder / "out"


def test_what_was_written_elsewhere_is_read_here(tmp_path: Path) -> None:
    bundle = read_bundle(written(tmp_path), out(tmp_path))
    assert (bundle.header.gate, bundle.header.commit, bundle.header.tree) == ("basic", "a" * 40, "b" * 40)
    assert bundle.header.claims["host"] == {"npu": {"state": "present"}}
    assert bundle.records == ('{"a":1}', '{"b":2}')
    assert {digest: path.read_bytes() for digest, path in bundle.files.items()} == {v: k for k, v in DIGEST.items()}
    unit = bundle.file("unit.xml")
    assert unit is not None
    assert unit.read_bytes() == XML
    assert bundle.file("other.xml") is None


def test_the_same_input_gives_the_same_bytes_and_any_tar_reads_them(tmp_path: Path) -> None:
    one, two = written(tmp_path / "one"), written(tmp_path / "two")
    assert one.read_bytes() == two.read_bytes()
    names = run(["tar", "tf", str(one)], tmp_path).ok().out.split()
    assert names == ["header.json", "records.jsonl", *sorted(f"artifacts/{digest}" for digest in DIGEST.values())]


# change of the call, what is raised, what is named
NOT_WRITTEN: list[tuple[dict[str, Any], type[AfdError], str]] = [
    ({"commit": "main"}, EvidenceFault, "commit: is 'main'; expected a full object id"),
    ({"gate": None}, EvidenceFault, "gate: is missing or of another kind"),
]


@pytest.mark.parametrize(("claims", "kind", "says"), NOT_WRITTEN)
def test_a_bundle_that_could_not_be_read_is_not_written(
    tmp_path: Path, claims: dict[str, Any], kind: type[AfdError], says: str
) -> None:
    with pytest.raises(kind, match=says):
        written(tmp_path, **claims)
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_nothing_is_written_over_and_nothing_half(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_bytes()
    with pytest.raises(Refused, match="exists already"):
        written(tmp_path)
    assert path.read_bytes() == before
    with pytest.raises(Blocked, match="No such file"):
        write_bundle(tmp_path / "y", CLAIMS, (), {"gone.xml": tmp_path / "gone"})
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        write_bundle(tmp_path / "no" / "folder" / "y", CLAIMS, (), {})
    assert sorted(item.name for item in tmp_path.iterdir()) == ["raw", "x.bundle"]


def tar(*members: tuple[str, bytes], change: Callable[[tarfile.TarInfo], None] | None = None, **options: Any) -> bytes:
    """A tar of any members; `change` has its way with the last one's header."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", **{"format": tarfile.USTAR_FORMAT, **options}) as archive:
        for number, (name, data) in enumerate(members, start=1):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if change and number == len(members):
                change(info)
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return target.getvalue()


def header(**change: Any) -> tuple[str, bytes]:
    body = {**CLAIMS, "schema": SCHEMA, "artifacts": {"unit.xml": DIGEST[XML]}, **change}
    return "header.json", json.dumps(body).encode()


def becomes(kind: bytes, target: str = "/etc/passwd") -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname, info.size = kind, target, 0

    return change


RECORDS = ("records.jsonl", b"")
UNIT = (f"artifacts/{DIGEST[XML]}", XML)
GOOD = tar(header(), RECORDS, UNIT)

# bytes of a bundle, what is said
HOSTILE = [
    (b"", "is cut off"),
    (GOOD[:-10240], "is cut off"),  # the end marker is gone
    (GOOD[:1536], "is cut off"),  # in the middle of a member
    (b"\0" * 10240, "the end stands where header.json should"),  # an empty tar
    (b"not a tar" * 100, "damaged tar header"),
    (GOOD.replace(XML, b"<testsuitez/>"), "other bytes than its name says"),
    (GOOD + b"x" * 512, "bytes behind its end"),
    (GOOD + GOOD, "bytes behind its end"),  # two bundles in one file
    (GOOD.replace(XML + b"\0", XML + b"x"), "bytes behind its end"),  # in a member's padding
    (tar(RECORDS, header(), UNIT), "'records.jsonl' stands where header.json should"),
    (tar(header(), RECORDS, ("../../evil", b"x")), "evil'.: is not expected here|evil', is not|evil': is not"),
    (tar(header(), RECORDS, ("/etc/evil", b"x")), "/etc/evil': is not expected here"),
    (tar(header(), RECORDS, (f"artifacts/../{DIGEST[XML]}", XML)), "is not expected here"),
    (tar(header(), RECORDS, UNIT, UNIT), "is not expected here"),  # the second would win elsewhere
    (tar(header(), RECORDS, UNIT, header()), "'header.json': is not expected here"),  # a second header
    (tar(header(), RECORDS, UNIT, change=becomes(tarfile.SYMTYPE)), "is no plain file"),
    (tar(header(), RECORDS, UNIT, change=becomes(tarfile.LNKTYPE)), "is no plain file"),
    (tar(header(), RECORDS, UNIT, change=becomes(tarfile.CHRTYPE)), "is no plain file"),
    (tar(header(), RECORDS, UNIT, change=becomes(tarfile.DIRTYPE)), "is no plain file"),
    (tar(header(), RECORDS, ("artifacts/" + "a" * 300, b"x"), format=tarfile.GNU_FORMAT), "is no plain file"),
    (tar(header(), RECORDS, ("artifacts/ü", b"x"), format=tarfile.PAX_FORMAT), "is no plain file"),
    (tar(header(), RECORDS), f"artifact {DIGEST[XML]} is named and not there"),
    (tar(header(artifacts={}), RECORDS, UNIT), f"artifact {DIGEST[XML]} is there and not named"),  # a stowaway
    (tar(("header.json", b"{"), RECORDS), "header.json: is no JSON"),
    (tar(("header.json", b"[" * 99_999), RECORDS), "header.json: is no JSON"),
    (tar(("header.json", b"[]"), RECORDS), "no known schema"),
    (tar(header(schema="git-afd/bundle/2"), RECORDS), "no known schema"),  # a later version's
    (tar(header(tree="b" * 39), RECORDS, UNIT), "tree: is 'bbb"),
    (tar(header(artifacts={"../x": DIGEST[XML]}), RECORDS, UNIT), "'../x' is not in its shortest form"),
    (tar(header(artifacts={"x": "../../config"}), RECORDS, UNIT), "'x' has no SHA-256"),
    (tar(header(artifacts=["x"]), RECORDS, UNIT), "artifacts: is missing or of another kind"),
    (tar(header(), ("records.jsonl", b"{}"), UNIT), "records.jsonl: is cut off"),
    (tar(header(), ("records.jsonl", b"\xff\n"), UNIT), "records.jsonl: is no UTF-8"),
]


def test_the_table_starts_from_a_good_bundle(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(GOOD)
    assert list(read_bundle(tmp_path / "good", out(tmp_path)).files) == [DIGEST[XML]]


@pytest.mark.parametrize(("data", "says"), HOSTILE)
def test_a_bundle_that_is_not_as_written_is_refused_and_nothing_escapes(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(EvidenceFault, match=says):
        read_bundle(tmp_path / "bad", out(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "out"]
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {DIGEST[XML]}


def test_a_bundle_beyond_its_bounds_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(EvidenceFault, match="too large"):
        read_bundle(path, out(tmp_path), total_limit=1000)
    claim = bytearray(tar(("header.json", b"")))
    info = tarfile.TarInfo("header.json")
    info.size = 5 << 30  # a header that claims more than there is
    claim[:512] = info.tobuf(tarfile.USTAR_FORMAT)
    path.write_bytes(claim)
    with pytest.raises(EvidenceFault, match="has 5368709120 bytes"):
        read_bundle(path, out(tmp_path))


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    for name in ("absent", "."):
        with pytest.raises(Blocked, match="cannot be read"):
            read_bundle(tmp_path / name, out(tmp_path))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(GOOD) - 1), byte=st.integers(0, 255), data=st.binary(max_size=600))
def test_no_change_of_a_byte_gives_other_evidence(tmp_path: Path, at: int, byte: int, data: bytes) -> None:
    for content in (GOOD[:at] + bytes([byte]) + GOOD[at + 1 :], data):
        (tmp_path / "some").write_bytes(content)
        try:
            bundle = read_bundle(tmp_path / "some", out(tmp_path))
        except EvidenceFault:
            continue
        assert [path.read_bytes() for path in bundle.files.values()] == [XML]
