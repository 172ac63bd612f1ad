"""The scratch copy: what is in it, what leads to the original, and that nothing of the user's changes."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from tests.lab.conduct.processes import run
from traindx.lab.conduct import fence, scratch

FENCED = pytest.mark.skipif(not fence.version(), reason="this kernel cannot hold a process to a folder")

# Everything that a script does to files, by every path that it may know.
HOSTILE = """
import os, shutil, sys, tempfile
project, outside, home = sys.argv[1], sys.argv[2], os.path.expanduser("~")

def attempt(act, *args):
    try:
        act(*args)
    except OSError as error:
        print(type(error).__name__, *args)

def put(path, mode="w"):
    with open(path, mode) as file:
        file.write("changed")

for path in ("weights.txt", "new.txt", "big.bin", "data/x.csv", "linked.txt", f"{project}/weights.txt",
             f"{project}/abs.txt", "../neighbour/notes.txt", "../neighbour/new.txt", "../fresh.txt",
             f"{outside}/notes.txt", f"{outside}/new.txt",
             f"{home}/.new", f"{home}/kept.txt", f"{tempfile.gettempdir()}/t"):
    attempt(put, path)
    attempt(put, path, "a")
attempt(os.remove, "weights.txt")
attempt(os.remove, f"{outside}/notes.txt")
attempt(os.truncate, "big.bin", 0)
attempt(os.rename, "data", "moved")
attempt(shutil.rmtree, outside, True)
attempt(os.symlink, "x", f"{outside}/link")
attempt(os.makedirs, f"{outside}/a/b")
print(os.listdir("."))
"""


def contents(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Kind or hash, mode and time of change of everything in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        what = os.readlink(path) if path.is_symlink() else "folder" if path.is_dir() else ""
        what = what or hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = (what, status.st_mode, status.st_mtime_ns)
    return found


def world(tmp_path: Path) -> Path:
    """A project with data, a link and a file next to it, in `tmp_path`/world."""
    project = tmp_path / "world" / "project"
    for folder in (
        project / "data",
        project / ".git",
        tmp_path / "world" / "neighbour",
        tmp_path / "world" / "home",
    ):
        folder.mkdir(parents=True)
    (project / "weights.txt").write_text("weights")
    (project / "big.bin").write_bytes(b"b" * 5000)
    (project / "data" / "x.csv").write_text("1,2")
    (project / ".git" / "HEAD").write_text("ref")
    (tmp_path / "world" / "neighbour" / "notes.txt").write_text("notes")
    (tmp_path / "world" / "home" / "kept.txt").write_text("kept")
    (project / "linked.txt").symlink_to(tmp_path / "world" / "neighbour" / "notes.txt")
    (project / "train.py").write_text(HOSTILE)
    return project


@FENCED
@pytest.mark.parametrize("copied_bytes", [3000, 1 << 20])
def test_the_users_files_are_byte_identical(tmp_path: Path, copied_bytes: int) -> None:
    project = world(tmp_path)
    before = contents(tmp_path / "world")
    base = {**os.environ, "HOME": str(tmp_path / "world" / "home")}
    outside = str(tmp_path / "world" / "neighbour")
    done = run(HOSTILE, project, str(project), outside, base=base, copied_bytes=copied_bytes)
    after = {
        name: what for name, what in contents(tmp_path / "world").items() if not name.startswith("record-")
    }
    del before["project/train.py"], after["project/train.py"]  # written again by `run`
    assert after == {**before, "project": after["project"]}
    assert done.ok, done.tail
    assert done.fenced
    assert "moved" in done.tail
    assert done.changed == ()
    assert ("big.bin" in done.linked) == (copied_bytes == 3000)


def test_without_a_fence_changes_through_links_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world(tmp_path)
    copy = scratch.make(project, copied_bytes=3000)
    try:
        before = scratch.state(project)
        (copy.folder / "big.bin").write_text("written through the link")
        (copy.folder / "weights.txt").write_text("written to the copy")
        (copy.folder / "data" / "x.csv").unlink()
        after = scratch.state(project)
        assert scratch.changes(before, after) == ("big.bin",)
        assert scratch.changes(after, {}, except_in="data") == (
            ".",
            "big.bin",
            "linked.txt",
            "train.py",
            "weights.txt",
        )
    finally:
        scratch.remove(copy.place)
    assert not copy.place.exists()
    assert (project / ".git" / "HEAD").read_text() == "ref"
    assert (project / "weights.txt").read_text() == "weights"


def test_small_files_are_copied_first_and_links_lead_where_they_did(tmp_path: Path) -> None:
    project = world(tmp_path)
    (project / "inner.txt").symlink_to("data/x.csv")
    (project / "env" / "bin").mkdir(parents=True)
    (project / "env" / "pyvenv.cfg").write_text("")
    copy = scratch.make(project / "data", copied_bytes=3000)
    try:
        assert copy.root == project  # the repository
        assert copy.folder == copy.copy / "data"
        assert copy.linked == (".git", "big.bin", "env")
        assert not (copy.copy / "weights.txt").is_symlink()
        assert os.readlink(copy.copy / "inner.txt") == str(copy.copy / "data" / "x.csv")
        assert os.readlink(copy.copy / "linked.txt") == str(tmp_path / "world" / "neighbour" / "notes.txt")
        assert (copy.folder / ".." / ".." / "neighbour" / "notes.txt").read_text() == "notes"
        assert (copy.copy / "weights.txt").stat().st_mtime_ns == (project / "weights.txt").stat().st_mtime_ns
    finally:
        scratch.remove(copy.place)


def test_of_very_many_files_some_are_linked(tmp_path: Path) -> None:
    for i in range(30):
        for folder in (tmp_path / "runs" / f"{i % 3}", tmp_path / "images"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i:02}.txt").write_text("x" * i)
    (tmp_path / "train.py").write_text("")
    copy = scratch.make(tmp_path, copied_files=20)
    try:
        assert copy.linked[0] == "images"  # more than 20 in one folder
        assert sorted(copy.linked[1:]) == sorted(
            f"runs/{i % 3}/{i:02}.txt" for i in range(19, 30)
        )  # the largest
        assert not (copy.folder / "runs" / "0").is_symlink()  # new files can be made there
        assert (copy.folder / "runs" / "2" / "29.txt").read_text() == "x" * 29
        assert sorted(p.name for p in copy.folder.iterdir()) == ["images", "runs", "train.py"]
    finally:
        scratch.remove(copy.place)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("/a/proj/x.csv", "{copy}/x.csv"),
        ("--out=/a/proj/runs", "--out={copy}/runs"),
        ("/a/proj", "{copy}"),
        ("/a/project2/x", "/a/project2/x"),
        ("/a/proj/../other", "/a/proj/../other"),
        ("x/a/proj/y", "x/a/proj/y"),
        ("/usr/bin:/a/proj/bin", "/usr/bin:{copy}/bin"),
        ("--lr=0.1", "--lr=0.1"),
        ("https://host/a/proj", "https://host/a/proj"),
    ],
)
def test_paths_into_the_project_lead_to_the_copy(given: str, wanted: str) -> None:
    copy = Path("/s/tree/a/proj")
    found = scratch.redirect_paths(given, scratch.Scratch(Path("/s"), Path("/a/proj"), copy, copy, ()))
    assert found == wanted.format(copy=copy)


def test_the_environment_of_an_experiment(tmp_path: Path) -> None:
    place = Path("/s")
    copy = scratch.Scratch(place, Path("/a/proj"), place / "tree/proj", place / "tree/proj/sub", ())
    home = {"HOME": str(tmp_path)}
    assert "XDG_CACHE_HOME" not in scratch.environment_in(home, copy)  # it cannot be made there
    (tmp_path / ".cache").mkdir()
    found = scratch.environment_in({**home, "DATA": "/a/proj/data", "KEPT": "1"}, copy)
    assert found["HOME"] == "/s/home"
    assert found["TMPDIR"] == "/s/tmp"
    assert found["DATA"] == "/s/tree/proj/data"
    assert (found["KEPT"], found["WANDB_MODE"], found["PWD"]) == ("1", "offline", "/s/tree/proj/sub")
    assert found["MLFLOW_TRACKING_URI"] == "file:///s/mlruns"
    assert found["XDG_CACHE_HOME"] == str(tmp_path / ".cache")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux")
def test_version_is_that_of_the_kernel() -> None:
    listed = Path("/sys/kernel/security/lsm")
    if listed.exists() and "landlock" not in listed.read_text():
        assert fence.version() == 0
    assert fence.version() in (0, *range(2, 40))
