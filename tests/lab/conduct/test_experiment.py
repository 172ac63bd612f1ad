"""Bounded processes: real ones, with children that do not want to go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conduct.processes import CLINGING, Pipe, run, unrecorded
from tests.processes import started
from traindx.errors import ConfigError
from traindx.lab.conduct.experiment import conduct
from traindx.lab.conduct.output import KEPT_BYTES

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="adopts orphans, as only Linux can")
STARTS_ONE = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CLINGING!r}, sys.argv[1]], stdout=subprocess.PIPE)
child.stdout.read()  # it has the pipe
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    made = Pipe(tmp_path / "pipe")
    yield made
    made.close()


def test_how_an_end_is_described(tmp_path: Path) -> None:
    done = run("import sys; print('x' * 10, 'end'); sys.exit(3)", tmp_path / "p")
    assert (done.ended, done.status, done.signal, done.ok) == ("finished", 3, 0, False)
    assert done.tail == "xxxxxxxxxx end\n"
    assert (done.out / "stdout.log").read_text() == done.tail
    assert done.describe_end() == "ended with status 3: xxxxxxxxxx end"
    killed = run("import os; os.kill(os.getpid(), 9)", tmp_path / "p")
    assert (killed.ended, killed.signal) == ("finished", 9)
    assert run("", tmp_path / "p").ok


def test_interventions_and_steps_go_to_the_record(tmp_path: Path) -> None:
    done = run(
        "import os; print(os.environ['GIVEN'])",
        tmp_path / "p",
        interventions=("clip=1.0", "seed=0"),
        steps=7,
        threads=1,
    )
    assert done.tail == "clip=1.0 seed=0 7\n"
    assert done.interventions == ("clip=1.0", "seed=0")


def test_threads_are_bounded_on_request(tmp_path: Path) -> None:
    done = run("import os; print(os.environ['OMP_NUM_THREADS'])", tmp_path / "p", threads=3)
    assert done.tail == "3\n"


def test_long_output_is_kept_at_both_ends(tmp_path: Path) -> None:
    done = run("import sys; sys.stdout.write('begin' + 'x' * 10_000_000 + 'end')", tmp_path / "p")
    assert done.ok
    assert done.tail.endswith("xxxend")
    assert (done.out / "stdout.log").read_bytes().startswith(b"beginxxx")
    assert (done.out / "stdout.log").stat().st_size == KEPT_BYTES


@LINUX
def test_children_are_ended_with_a_command_that_ends(tmp_path: Path, pipe: Pipe) -> None:
    done = run(STARTS_ONE, tmp_path / "p", str(pipe.path), writable=[str(pipe.path)])
    assert done.ok, done.tail
    assert pipe.read() == b"here"
    assert pipe.read(0.0) == b""


@LINUX
def test_time_is_up(tmp_path: Path, pipe: Pipe) -> None:
    script = f"{STARTS_ONE}\nprint('waits', flush=True)\nimport signal; signal.pause()"
    done = run(script, tmp_path / "p", str(pipe.path), writable=[str(pipe.path)], seconds=6.0)
    assert done.ended == "out-of-time"
    assert done.signal == signal.SIGTERM
    assert 6.0 <= done.seconds < 60
    assert done.tail == "waits\n"
    assert pipe.read() == b"here"
    assert pipe.read(0.0) == b""


@LINUX
def test_a_command_that_does_not_want_to_end(tmp_path: Path, pipe: Pipe) -> None:
    done = run(CLINGING, tmp_path / "p", str(pipe.path), writable=[str(pipe.path)], seconds=10.0)
    assert (done.ended, done.signal) == ("out-of-time", signal.SIGKILL)
    assert pipe.read() == b"here"
    assert pipe.read(0.0) == b""


def test_it_is_ended_when_somebody_says_so(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    assert run("import signal; signal.pause()", tmp_path / "p", stop=stop).ended == "stopped"
    asked = iter([False, True])
    assert run("import signal; signal.pause()", tmp_path / "p", until=lambda: next(asked)).ended == "stopped"


def test_an_exception_ends_it(tmp_path: Path, pipe: Pipe) -> None:
    def fails() -> bool:
        assert pipe.read() == b"here"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(CLINGING, tmp_path / "p", str(pipe.path), writable=[str(pipe.path)], until=fails)
    assert pipe.read(0.0) == b""


PARENT = """
import sys
from pathlib import Path
from tests.processes import started
from tests.lab.conduct.processes import CLINGING, run
run(CLINGING, Path(sys.argv[1]), sys.argv[2], writable=[sys.argv[2]])
"""


@LINUX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_traindx_dies(tmp_path: Path, pipe: Pipe, number: int) -> None:
    (tmp_path / "tmp").mkdir()
    with started(
        [sys.executable, "-c", PARENT, str(tmp_path / "p"), str(pipe.path)],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert pipe.read() == b"here"
        parent.send_signal(number)
        assert parent.wait(60) == -number
        assert pipe.read() == b""


def test_no_such_program(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such program"):
        conduct(["absent-program"], record=unrecorded, out=tmp_path / "o", folder=tmp_path)
    (tmp_path / "train.py").write_text("")
    with pytest.raises(ConfigError, match="put its interpreter before it"):
        conduct(["./train.py"], record=unrecorded, out=tmp_path / "o", folder=tmp_path)
    assert not (tmp_path / "o").exists()
