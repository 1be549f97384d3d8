from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kit import ROOT, Kit, Repo

from git_afd.adapters.artifacts import SMALL, Artifacts
from git_afd.adapters.git import Git
from git_afd.core.names import ARTIFACT_REF
from git_afd.errors import Blocked, EnvironmentFault


def store(repo: Repo) -> Artifacts:
    return Artifacts(Git(repo.path), repo.path / ".git")


def place(repo: Repo, digest: str) -> Path:
    return repo.path / ".git" / "afd" / "artifacts" / digest[:2] / digest


def break_open(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


# what is kept, whether it travels
SIZES = [
    (b"", True),
    (b"\0\r\n\xff binary", True),
    (b"* text=auto\r\n", True),
    (b"x" * SMALL, True),
    (b"x" * (SMALL + 1), False),  # one byte more stays here
]


@pytest.mark.parametrize(("data", "travels"), SIZES)
def test_bytes_come_back_as_they_were_and_small_ones_travel(repo: Repo, data: bytes, travels: bool) -> None:
    repo.write(".gitattributes", "* text eol=lf\n")  # no filter may touch evidence
    digest = store(repo).put_bytes(data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert store(repo).get(digest) == data
    assert store(repo).state(digest) == "present"
    assert place(repo, digest).stat().st_mode & 0o777 == 0o444
    in_ref = repo.run(["git", "cat-file", "-e", f"{ARTIFACT_REF}:{digest[:2]}/{digest}"]).code == 0
    assert in_ref is travels


def test_keeping_touches_neither_index_nor_branch(repo: Repo) -> None:
    repo.commit("first", {"a": "1"})
    repo.write("a", "2")

    def seen() -> tuple[bytes, str, str]:
        return (
            (repo.path / ".git" / "index").read_bytes(),
            repo.head,
            repo("git --no-optional-locks status --porcelain"),
        )

    before = seen()
    store(repo).put([b"one", b"two"])
    assert seen() == before


def test_one_run_is_one_commit_and_the_same_again_is_none(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "result").write_bytes(b"file")
    first = store(repo).put([b"one", b"two", tmp_path / "result", b"one"])
    assert store(repo).put([b"two", b"one"]) == (first[1], first[0])
    assert repo(f"git rev-list --count {ARTIFACT_REF}") == "1"
    store(repo).put_bytes(b"three")
    assert repo(f"git rev-list --count {ARTIFACT_REF}") == "2"
    assert len(repo(f"git ls-tree -r --name-only {ARTIFACT_REF}").split()) == 4


def test_a_repository_below_an_odd_name_keeps_artifacts_too(kit: Kit) -> None:
    odd = kit.repo('a "quoted\\ \nname ü')
    assert store(odd).get(store(odd).put_bytes(b"x")) == b"x"
    assert odd(f"git rev-list --count {ARTIFACT_REF}") == "1"


def test_it_needs_no_identity_and_works_in_a_bare_repository(kit: Kit, sealed: Path) -> None:
    (sealed / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n")
    bare = kit.repo("bare", "--bare")
    digest = Artifacts(Git(bare.path), bare.path).put_bytes(b"x")
    assert bare(f"git cat-file blob {ARTIFACT_REF}:{digest[:2]}/{digest}") == "x"


def test_a_damaged_artifact_is_told_and_never_returned(repo: Repo) -> None:
    digest = store(repo).put_bytes(b"x" * (SMALL + 1))
    break_open(place(repo, digest), b"y" * (SMALL + 1))  # same length: only the bytes tell
    assert store(repo).state(digest) == "damaged"
    assert store(repo).get(digest) is None
    assert store(repo).state(digest, deep=False) == "present"  # a look is no proof: gates read


def test_what_stands_in_the_artifacts_place_and_is_no_file_is_damaged(repo: Repo) -> None:
    digest = store(repo).put_bytes(b"x" * (SMALL + 1))
    place(repo, digest).unlink()
    assert store(repo).state(digest) == "absent"
    place(repo, digest).mkdir()
    assert store(repo).state(digest) == "damaged"
    assert store(repo).get(digest) is None


def test_a_small_artifact_that_is_lost_or_damaged_comes_back_from_the_ref_when_asked(repo: Repo) -> None:
    lost, damaged = store(repo).put([b"one", b"two"])
    place(repo, lost).unlink()
    break_open(place(repo, damaged), b"tow")
    assert (store(repo).state(lost), store(repo).state(damaged)) == ("absent", "damaged")
    assert (store(repo).get(lost), store(repo).get(damaged)) == (b"one", b"two")
    assert store(repo).restore([lost, damaged, "0" * 64]) == (lost, damaged)
    assert store(repo).state(damaged) == "present"
    beside = list(place(repo, damaged).parent.glob("*.damaged-*"))
    assert [path.read_bytes() for path in beside] == [b"tow"]


def test_artifacts_travel_to_another_clone(repo: Repo, kit: Kit) -> None:
    digest = store(repo).put_bytes(b"evidence")
    other = kit.repo("other")
    other(["git", "fetch", "-q", str(repo.path), f"{ARTIFACT_REF}:{ARTIFACT_REF}"])
    assert store(other).get(digest) == b"evidence"
    assert store(other).restore([digest]) == (digest,)


def test_a_lie_in_the_ref_is_not_believed(repo: Repo) -> None:
    digest = hashlib.sha256(b"truth").hexdigest()
    blob = repo("git hash-object -w --stdin", stdin="lie")
    inner = repo("git mktree", stdin=f"100644 blob {blob}\t{digest}\n")
    outer = repo("git mktree", stdin=f"040000 tree {inner}\t{digest[:2]}\n")
    repo(f"git update-ref {ARTIFACT_REF} {repo(['git', 'commit-tree', outer, '-m', 'x'])}")
    assert store(repo).get(digest) is None
    assert store(repo).restore([digest]) == ()


# names that a record could hold
HOSTILE = ["", "../../config", "A" * 64, "g" * 64, "0" * 63, "0" * 64 + "\n", "/etc/passwd" + "0" * 53]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_no_digest_is_absent(repo: Repo, name: str) -> None:
    assert store(repo).get(name) is None
    assert store(repo).state(name) == "absent"
    assert store(repo).restore([name]) == ()


def test_what_is_no_readable_file_is_refused_by_name_without_waiting(repo: Repo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, says in (("pipe", "no regular file"), ("absent", "No such file"), (".", "no regular file")):
        with pytest.raises(Blocked, match=says):
            store(repo).put_file(tmp_path / name)
    assert not list((repo.path / ".git" / "afd" / "artifacts").iterdir())


def test_a_store_that_cannot_be_written_is_named(repo: Repo) -> None:
    (repo.path / ".git" / "afd").write_text("in the way")
    with pytest.raises(EnvironmentFault, match="artifact store"):
        store(repo).put_bytes(b"x")


WRITER = """
import sys
from pathlib import Path
from git_afd.adapters.artifacts import Artifacts
from git_afd.adapters.git import Git
root, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    print(Artifacts(Git(root), root / ".git").put([f"{name} {number}".encode(), b"common"])[0], flush=True)
"""


def writer(repo: Repo, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(repo.path), name, str(count)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_writers_side_by_side_lose_nothing(repo: Repo) -> None:
    writers = [writer(repo, f"w{number}", 4) for number in range(4)]
    digests = [digest for one in writers for digest in one.communicate(timeout=60)[0].split()]
    assert [one.returncode for one in writers] == [0] * 4
    listed = repo(f"git ls-tree -r --name-only {ARTIFACT_REF}")
    assert len(digests) == 16
    assert all(digest in listed for digest in digests)


def test_a_kill_between_writes_leaves_only_whole_artifacts(repo: Repo) -> None:
    with writer(repo, "killed", 1000) as one:
        assert one.stdout
        one.stdout.readline()  # the first one is there; the kill comes somewhere in the next ones
        time.sleep(0.15)
        one.send_signal(signal.SIGKILL)
        one.communicate()
    files = [path for path in (repo.path / ".git" / "afd" / "artifacts").glob("??/*") if path.is_file()]
    assert files
    assert all(store(repo).state(path.name) == "present" for path in files)
    repo("git fsck --no-dangling")
    assert store(repo).get(store(repo).put_bytes(b"after")) == b"after"


def test_what_a_killed_writer_left_goes_after_a_day_and_nothing_else_does(repo: Repo) -> None:
    digest = store(repo).put_bytes(b"kept")
    home = repo.path / ".git" / "afd" / "artifacts"
    for name, age_s in (("new-old", 2 * 86400), ("new-fresh", 60)):
        (home / name).touch()
        os.utime(home / name, (time.time() - age_s,) * 2)
    os.utime(place(repo, digest), (1, 1))
    store(repo).sweep()
    assert [path.name for path in home.iterdir() if path.is_file()] == ["new-fresh"]
    assert store(repo).state(digest) == "present"
