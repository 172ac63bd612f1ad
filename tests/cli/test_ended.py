"""Experiments that are ended from outside: what is kept, what remains, and what the next start clears."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.cli.process import COMMAND, LIMIT, environment, traindx
from tests.cli.verbs.test_fix import TRAIN, diary
from tests.lab.conduct.processes import Pipe
from tests.processes import line, started
from traindx.temporary import OWNER, PREFIXES

WAITS = """
import os, sys, time
pipe = os.open(sys.argv[1], os.O_WRONLY)
os.write(pipe, b"here")
time.sleep(600)
"""
VERBS = ["fix", "investigate", "check", "find-lr"]


@contextmanager
def waiting(folder: Path, verb: str) -> Iterator[tuple[Popen[bytes], Pipe]]:
    """A verb whose script waits in its first start, and a pipe that the script holds open."""
    here, rooms = folder / "p", folder / "tmp"
    here.mkdir()
    rooms.mkdir(exist_ok=True)
    (here / "train.py").write_text(WAITS)
    pipe = Pipe(folder / "pipe")
    command = [
        *COMMAND,
        verb,
        "--writable",
        str(pipe.path),
        "--",
        sys.executable,
        "train.py",
        str(pipe.path),
    ]
    with started(command, cwd=here, env=environment(TMPDIR=str(rooms)), stdout=PIPE, stderr=PIPE) as process:
        assert pipe.read() == b"here"
        yield process, pipe
    pipe.close()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_end_it_leaves_no_process_and_no_folder(
    tmp_path: Path, verb: str, number: signal.Signals
) -> None:
    with waiting(tmp_path, verb) as (process, pipe):
        process.send_signal(number)
        process.send_signal(signal.SIGTERM)  # schedulers send more than one
        _, said = process.communicate(timeout=LIMIT)
        last_line = said.decode().splitlines()[-1]
        assert process.returncode in (128 + number, 128 + signal.SIGTERM), said  # both are there at once
        assert last_line.startswith(("traindx: interrupted", "traindx: ended by SIG"))
        assert ("run the same command again to continue" in last_line) == (verb in ("fix", "investigate"))
        assert pipe.read() == b"", "the script still runs"
        assert os.listdir(tmp_path / "tmp") == []


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("print('no training here')")
    nohup = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    code = (
        "import os, signal\nfrom traindx.cli.interruptions import orderly\n"
        "with orderly():\n    os.kill(os.getpid(), signal.SIGHUP)\nprint('went on')"
    )
    with started([sys.executable, "-c", nohup, sys.executable, "-c", code], stdout=PIPE) as process:
        assert process.communicate(timeout=LIMIT)[0] == b"went on\n"


@pytest.mark.parametrize("verb", VERBS)
def test_killed_it_leaves_no_process_and_the_next_start_clears_its_folders(
    tmp_path: Path, verb: str
) -> None:
    others = ours_and_not(tmp_path / "tmp")
    with waiting(tmp_path, verb) as (process, pipe):
        process.kill()
        process.wait(LIMIT)
        assert pipe.read() == b"", "the script still runs"
    (tmp_path / "p" / "train.py").write_text("print('no training here')")
    done = traindx(
        "find-lr",
        "--",
        sys.executable,
        "train.py",
        cwd=tmp_path / "p",
        env={"TMPDIR": str(tmp_path / "tmp")},
    )
    assert done.status == 2, done.err
    assert sorted(os.listdir(tmp_path / "tmp")) == others


@pytest.mark.parametrize("verb", ["memory", "demo"])
def test_killed_as_its_first_folder_is_there_the_next_start_clears_it(tmp_path: Path, verb: str) -> None:
    rooms = tmp_path / "tmp"
    rooms.mkdir()
    (tmp_path / "train.py").write_text("print('no training here')")
    command = [verb] if verb == "demo" else [verb, "--", sys.executable, "train.py"]
    with started(
        [*COMMAND, *command], cwd=tmp_path, env=environment(TMPDIR=str(rooms)), stderr=PIPE
    ) as process:
        until = time.monotonic() + LIMIT
        while not os.listdir(rooms) and time.monotonic() < until:
            continue
        time.sleep(0.005)  # for its lock
        process.kill()
        process.wait(LIMIT)
    assert len(os.listdir(rooms)) == 1
    traindx(*command, cwd=tmp_path, env={"TMPDIR": str(rooms)})
    assert os.listdir(rooms) == []


def ours_and_not(rooms: Path) -> list[str]:
    """Folders that look like leftovers and are none: without a lock, with the lock of another machine, a link."""
    rooms.mkdir()
    kept = rooms.parent / "results"
    kept.mkdir()
    (kept / OWNER).write_text(f"1 {socket.gethostname()}\n")
    names = [f"{PREFIXES[0]}mine", f"{PREFIXES[1]}elsewhere", f"{PREFIXES[2]}link"]
    (rooms / names[0]).mkdir()
    (rooms / names[1]).mkdir()
    (rooms / names[1] / OWNER).write_text("1 another-machine\n")
    (rooms / names[2]).symlink_to(kept)
    return sorted(names)


def test_a_folder_that_is_in_use_is_not_cleared(tmp_path: Path) -> None:
    with waiting(tmp_path, "find-lr") as (_, pipe):
        before = sorted(os.listdir(tmp_path / "tmp"))
        (tmp_path / "q").mkdir()
        (tmp_path / "q" / "train.py").write_text("print('no training here')")
        done = traindx(
            "check",
            "--",
            sys.executable,
            "train.py",
            cwd=tmp_path / "q",
            env={"TMPDIR": str(tmp_path / "tmp")},
        )
        assert done.status == 2, done.err
        assert sorted(os.listdir(tmp_path / "tmp")) == before
        assert len(before) == 2
        assert not select.select([pipe.end], [], [], 0)[0], "the other script was ended"


def running(mark: Path) -> list[int]:
    """Handles of the processes whose environment speaks of a path."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if os.fsencode(mark) in (entry / "environ").read_bytes():
                    found.append(os.pidfd_open(int(entry.name)))
            except OSError:
                continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("starts", [0, 1, 3])
def test_killed_with_loaded_libraries_it_leaves_no_process(tmp_path: Path, starts: int) -> None:
    pytest.importorskip("torch")
    here, out, rooms = tmp_path / "p", tmp_path / "proof", tmp_path / "tmp"
    here.mkdir()
    rooms.mkdir()
    (here / "train.py").write_text(TRAIN)
    command = [*COMMAND, "fix", "--out", str(out), "--", sys.executable, "train.py", "40"]
    with started(command, cwd=here, env=environment(TMPDIR=str(rooms)), stderr=PIPE) as process:
        while "as it is" not in line(process.stderr):
            continue
        while len(diary(out)) < starts and line(process.stderr):
            continue
        left = running(rooms)
        process.kill()
        process.wait(LIMIT)
        assert left
        while left:  # and those that were started meanwhile
            for handle in left:
                assert select.select([handle], [], [], LIMIT)[0], "a process is left"
                os.close(handle)
            left = running(rooms)
