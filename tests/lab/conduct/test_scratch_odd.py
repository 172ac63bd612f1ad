"""Scratch copies of folders that are at work, hold what is no file, or hold the scratch copy itself."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.lab.conduct.processes import run
from traindx.lab.conduct import scratch

# Files and folders come and go as fast as they can, until stdin ends.
BUSY = """
import os, select, shutil, sys
folder = sys.argv[1]
turn = 0
while True:
    for i in range(40):
        with open(f"{folder}/{turn % 3}-{i}", "w") as file:
            file.write("x" * i)
        os.makedirs(f"{folder}/d{i % 5}/inner", exist_ok=True)
        open(f"{folder}/d{i % 5}/inner/file", "w").close()
    if not turn:
        print("begun", flush=True)
    for i in range(40):
        os.remove(f"{folder}/{turn % 3}-{i}")
        shutil.rmtree(f"{folder}/d{i % 5}", ignore_errors=True)
    turn += 1
    if select.select([0], [], [], 0)[0]:
        break
"""


def test_files_that_come_and_go_while_the_copy_is_made(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "train.py").write_text("kept")
    busy = subprocess.Popen(
        [sys.executable, "-c", BUSY, str(tmp_path / "p")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert busy.stdout is not None
        assert busy.stdout.readline() == b"begun\n"
        for _ in range(20):
            scratch.state(tmp_path / "p")
            copy = scratch.make(tmp_path / "p")
            try:
                assert (copy.folder / "train.py").read_text() == "kept"
                assert not any(path.is_symlink() and not path.exists() for path in copy.folder.iterdir())
            finally:
                scratch.remove(copy.place)
        assert busy.poll() is None
    finally:
        busy.kill()
        busy.communicate()


def test_the_temporary_folder_is_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy does not hold itself, nor another start's, and what is written to it is no change of the project."""
    project = tmp_path / "p"
    (project / "tmp").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(project / "tmp"))
    before = scratch.state(project)
    other = scratch.make(project)
    done = run("import os; print([(n, f) for n, _, f in os.walk('.')])", project)
    try:
        assert done.ok, done.tail
        assert done.tail.strip() == "[('.', ['train.py']), ('./tmp', [])]"
        assert done.changed == ()
        assert scratch.changes(before, scratch.state(project)) == ("train.py",)
    finally:
        scratch.remove(other.place)


def test_what_is_no_file_is_left_out_and_reported(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    os.mkfifo(project / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    before = os.getcwd()
    os.chdir(project)  # names of sockets are short
    try:
        listening.bind("socket")
    finally:
        os.chdir(before)
    (project / "dangling").symlink_to("nowhere")
    (project / "circle").symlink_to("circle")
    done = run("import os; print(sorted(os.listdir()))", project)
    listening.close()
    assert done.ok, done.tail
    assert done.left_out == ("pipe", "socket")
    assert done.tail.strip() == "['circle', 'dangling', 'train.py']"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_linked(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "secret.txt").chmod(0)
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "train.py").write_text("")
    copy = scratch.make(tmp_path)
    try:
        assert copy.linked == ("closed", "secret.txt")
    finally:
        scratch.remove(copy.place)
        (tmp_path / "closed").chmod(0o700)


def test_a_home_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    copy = scratch.make(tmp_path, home=Path(os.devnull))
    try:
        assert list((copy.place / "home").iterdir()) == []
    finally:
        scratch.remove(copy.place)


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("open('../neighbour.txt')", True),
        ("from pathlib import Path\nopen(Path.cwd().parent / 'neighbour.txt')", True),
        ("import os\nopen(os.path.join(os.pardir, 'neighbour.txt'))", True),
        ("print('waits ...', 1. / 3., [*range(3)])", False),
    ],
)
def test_neighbours_of_a_project_are_linked_where_something_refers_to_them(
    tmp_path: Path, text: str, linked: bool
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "neighbour.txt").write_text("read")
    done = run(text, tmp_path / "p")
    assert done.ok, done.tail
    copy = scratch.make(tmp_path / "p")
    try:
        assert (copy.folder.parent / "neighbour.txt").exists() == linked
    finally:
        scratch.remove(copy.place)


@pytest.mark.parametrize("name", ["data.yaml", "files.txt", "sub/more.py"])
def test_settings_and_modules_lead_out_too(tmp_path: Path, name: str) -> None:
    path = tmp_path / "p" / name
    path.parent.mkdir(parents=True)
    path.write_text("folder: ../images\n")
    (tmp_path / "images").mkdir()
    copy = scratch.make(tmp_path / "p")
    try:
        assert (copy.folder.parent / "images").is_dir()
    finally:
        scratch.remove(copy.place)


def test_a_command_leads_out(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "train.py").write_text("print('neighbour')")
    for words, linked in ((("python", "../train.py"), True), (("python", "train.py"), False)):
        copy = scratch.make(tmp_path / "p", words=words)
        try:
            assert (copy.folder.parent / "train.py").exists() == linked
        finally:
            scratch.remove(copy.place)
