"""A disk that takes no more: what is on it stays readable, it is reported once, and tried again without
littering. A limit on the size of files, and file systems that are full or cannot be written, are real."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import traindx
from tests.capture.launch.launching import SCRIPTS
from tests.capture.store.test_recorder import write
from tests.cli.process import traindx as traindx_command
from traindx.capture.store.recorder import Recorder
from traindx.vocabulary.run import Event

LIMITED = """
import resource, sys
from pathlib import Path
from traindx.capture.store.recorder import Recorder
from traindx.vocabulary.run import Event
from tests.capture.store.test_recorder import write
limit, lifted = int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
recorder = Recorder(Path(sys.argv[1]), budget=1 << 20)
for first in range(0, 3000, 100):
    write(recorder, first, first + 100)
    recorder.setup({"facts": {"turn": first}})
    recorder.event(Event("note", "turn %d" % first, float(first), "", "turn"), 1.7e9)
    recorder.flush()
    if first == lifted:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
recorder.close()
print("trained")
"""


def limited(folder: Path, limit: int, lifted: int) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", LIMITED, str(folder), str(limit), str(lifted)]
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])


def test_where_files_may_not_grow_others_go_on(tmp_path: Path) -> None:
    """Each file is filled: no more of them than the bytes need, and nothing is missing."""
    done = limited(tmp_path, 20_000, -1)
    assert (done.stdout, done.stderr) == ("trained\n", "")
    streams = list(tmp_path.glob("steps-*"))
    whole = sum(file.stat().st_size for file in streams)
    assert max(file.stat().st_size for file in streams) <= 20_000
    assert len(streams) <= 2 * whole / 20_000
    assert traindx.read(tmp_path).series["train/loss"].steps.tolist() == list(range(3000))


def test_a_refusal_is_said_once_and_nothing_is_lost_when_there_is_room_again(tmp_path: Path) -> None:
    """Not even one batch has room at first: one file, and one line on stderr."""
    done = limited(tmp_path, 1000, 2000)
    assert done.stdout == "trained\n"
    assert done.stderr.count("\n") == done.stderr.count("traindx:") == 1
    assert "cannot be written (File too large)" in done.stderr
    run = traindx.read(tmp_path)
    assert run.series["train/loss"].steps.tolist() == list(range(3000))
    assert len([event for event in run.events if event.code == "turn"]) == 30


def test_a_refusal_that_lasts_leaves_no_litter(tmp_path: Path) -> None:
    done = limited(tmp_path, 1000, -1)
    assert done.stderr.count("\n") == 1
    assert len(list(tmp_path.iterdir())) <= 3  # a stream, events, setup


def mounted(folder: Path, options: str) -> bool:
    """A small file system in memory. Needs the rights for it."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    return done.returncode == 0


def test_a_full_file_system(tmp_path: Path) -> None:
    """Every try is made when it is due, none in between; what was written before is read."""
    disk = tmp_path / "disk"
    if not mounted(disk, "size=64k"):
        pytest.skip("no right to mount")
    try:
        recorder = Recorder(disk / "run", budget=1 << 20)
        for first in range(0, 6000, 100):
            write(recorder, first, first + 100)
            recorder.flush()
        recorder.setup({"facts": {"lr": 0.1}})
        recorder.close()
        assert len(list((disk / "run").glob("steps-*"))) == 1
        steps = traindx.read(disk / "run").series["train/loss"].steps
        assert steps.tolist() == list(range(len(steps)))
        assert len(steps) >= 500
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("verb", ["run", "memory", "profile"])
def test_a_full_file_system_is_why_nothing_was_recorded(tmp_path: Path, verb: str) -> None:
    pytest.importorskip("torch")
    disk = tmp_path / "disk"
    if not mounted(disk, "size=64k"):
        pytest.skip("no right to mount")
    try:
        (disk / "fill").write_bytes(bytes(shutil.disk_usage(disk).free))
        script = ("--out", str(disk / "out"), "--", sys.executable, str(SCRIPTS / "plain_functions.py"))
        done = traindx_command(verb, *script, cwd=tmp_path, env={"PYTHONWARNINGS": ""})
        assert done.status == 2
        assert done.err.endswith(f": there is no room left on the disk of {disk / 'out'}\n")
        assert not list(disk.glob("out/*.gz"))
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_file_system_that_becomes_read_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And back: nothing is missing then. (A kernel makes it so only while no file is being written.)"""
    disk = tmp_path / "disk"
    if not mounted(disk, "size=1m"):
        pytest.skip("no right to mount")
    try:
        recorder = Recorder(disk / "run", budget=1 << 20)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        write(recorder, 0, 100)
        recorder.event(Event("note", "a word", 7.0, "", "word"), 1.7e9)
        recorder.flush()
        recorder.setup({"facts": {"lr": 0.1}})
        assert list((disk / "run").iterdir()) == []
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        recorder.close()
        run = traindx.read(disk / "run")
        assert len(run.series["train/loss"]) == 100
        assert [event.code for event in run.events] == ["word"]
        assert capsys.readouterr().err.count("traindx:") == 1
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_abandoned_steps_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that outlasts the memory set aside for it: the record says which steps are missing."""
    monkeypatch.setattr("traindx.capture.store.recorder.MOST_WAITING", 150)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    recorder = Recorder(tmp_path, budget=1 << 20)
    write(recorder, 0, 50)
    recorder.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(next(tmp_path.glob("steps-*"))), before[1]))
    try:
        for first in (50, 150, 250):
            write(recorder, first, first + 100)
            recorder.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    write(recorder, 350, 360)
    recorder.close()
    run = traindx.read(tmp_path)
    (unwritten,) = [event for event in run.events if event.code == "unwritten"]
    steps = run.series["train/loss"].steps.tolist()
    missing = sorted(set(range(360)) - set(steps))
    assert f"steps {missing[0]} to {missing[-1]} are not recorded" in unwritten.message
