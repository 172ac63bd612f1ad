"""`traindx run` judges while the script trains: real trainings, the judge's process, and what ends it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import COMMAND, Done, environment, traindx
from tests.processes import started

pytest.importorskip("torch")

LIMIT = 600  # seconds after which a process hangs: the judge gives way to everything else on a busy machine
ENDLESS = 10_000_000  # steps that nobody waits for
SCRIPT = """
import os, signal, sys, torch

broken, most = int(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGUSR1, lambda *_: print("checkpoint", flush=True))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
step = 0
try:
    for step in range(most):
        x = torch.randn(32, 8)
        loss = torch.nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
        if step == broken:
            loss = loss * float("nan")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 0:
            print("begun", flush=True)
        if os.path.exists("enough"):
            break
finally:
    print("made", step + 1, [float(p.double().sum()).hex() for p in model.parameters()], flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def command(broken: int, most: int, *options: str) -> list[str]:
    """Without rules on the speed of steps, which on a machine that runs tests is what it is."""
    return [
        "run",
        "--out",
        "record",
        "--ignore",
        "SYS",
        *options,
        "--",
        sys.executable,
        "train.py",
        str(broken),
        str(most),
    ]


def run(folder: Path, broken: int, most: int, *options: str, **variables: str) -> Done:
    given = command(broken, most, *options)
    return traindx(*given, cwd=folder, env={"PYTHONWARNINGS": "", **variables}, limit=LIMIT)


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def made(out: str) -> int:
    return int(next(line for line in out.splitlines() if line.startswith("made")).split()[1])


def test_stop_on_ends_the_script_in_order_and_says_so(folder: Path) -> None:
    """Its exit status is the script's own, too, so that a shell script does not go on."""
    (folder / "job.sh").write_text(f"{sys.executable} train.py 1500 {ENDLESS} && echo next\n")
    given = ["run", "--out", "record", "--stop-on", "high", "--events", "events.jsonl", "--", "sh", "job.sh"]
    done = traindx(*given, cwd=folder, env={"PYTHONWARNINGS": ""}, limit=LIMIT)
    assert done.status == 3, done.err
    assert "next" not in done.out
    assert 1500 < made(done.out) < ENDLESS // 20  # its `finally:` has run
    assert "traindx: --stop-on ended the script after" in done.err
    assert "train/loss is NaN or infinite" in done.err
    seen = events(folder)
    assert [e["kind"] for e in seen].count("run-started") == 1
    assert {"finding", "decision"} <= {e["kind"] for e in seen}
    assert (seen[-1]["kind"], "--stop-on" in seen[-1]["text"]) == ("run-ended", True)
    assert [e["cursor"] for e in seen] == [f"record:{i + 1}" for i in range(len(seen))]
    slugs = [e["finding"]["slug"] for e in seen if e["kind"] == "finding"]
    assert sorted(slugs) == sorted(set(slugs))


def test_without_the_option_the_same_script_runs_to_its_end(folder: Path) -> None:
    done = run(folder, 1500, 4500, "--events", "events.jsonl")
    assert (done.status, made(done.out)) == (1, 4500)
    assert [e["finding"]["slug"] for e in events(folder) if e["kind"] == "finding"].count(
        "loss-not-finite"
    ) == 1
    assert not (folder / "record" / ".stop").exists()


def test_a_healthy_script_runs_to_its_end_bit_for_bit(folder: Path) -> None:
    plain = subprocess.run(
        [sys.executable, "train.py", "-1", "4500"], cwd=folder, capture_output=True, text=True, timeout=LIMIT
    )
    done = run(folder, -1, 4500, "--live", "--stop-on", "medium", "--events", "events.jsonl")
    assert done.status == 0, done.err
    assert done.out.startswith(plain.stdout)
    assert [e["kind"] for e in events(folder)] == ["run-started", "run-ended"]
    assert "traindx step" not in done.err


def test_a_training_of_several_processes_is_not_ended(folder: Path) -> None:
    done = run(folder, 300, 6000, "--stop-on", "high", "--events", "events.jsonl", WORLD_SIZE="2", RANK="0")
    assert made(done.out) == 6000
    assert done.status == 1


@pytest.mark.parametrize("options", [("--steps", "5"), ("--with", "lr=*0.5")])
def test_a_scratch_copy_is_not_judged(folder: Path, options: tuple[str, ...]) -> None:
    done = run(folder, -1, 10, "--stop-on", "high", *options)
    assert (done.status, done.out) == (2, "")
    assert "add --in-place" in done.err


def test_events_that_cannot_be_written_are_refused_before_the_start(folder: Path) -> None:
    done = run(folder, -1, 10, "--events", "absent/events.jsonl")
    assert (done.status, done.out) == (2, "")
    assert "--events absent/events.jsonl: cannot be written" in done.err


def children(pid: int) -> dict[int, list[str]]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child): Path(f"/proc/{child}/cmdline").read_text().split("\0") for child in found}


def judge_of(pid: int) -> int:
    (judge,) = (child for child, words in children(pid).items() if "-P" in words)
    return judge


def gone(handle: int) -> bool:
    """Whether a process ends in time."""
    return bool(select.select([handle], [], [], LIMIT)[0])


@contextlib.contextmanager
def judged(folder: Path, *options: str) -> Any:
    """An endless run that is judged, its script at work."""
    with started(
        [*COMMAND, *command(-1, ENDLESS, "--events", "events.jsonl", *options)],
        cwd=folder,
        env=environment(PYTHONWARNINGS=""),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # what a buffer had read beyond a line would be lost to `communicate`
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        judge = os.pidfd_open(judge_of(process.pid))
        try:
            yield process, judge
        finally:
            os.close(judge)


def test_the_judge_ends_with_a_run_that_is_killed(folder: Path) -> None:
    with judged(folder) as (process, judge):
        process.kill()
        assert gone(judge)


def test_a_judge_that_is_killed_does_not_hurt_the_run(folder: Path) -> None:
    with judged(folder) as (process, judge):
        signal.pidfd_send_signal(judge, signal.SIGKILL)
        assert gone(judge)
        (folder / "enough").touch()
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 1), err  # how much was learned by then is a matter of speed
    assert b"made" in out
    assert b"the script was killed" not in err


def test_signals_of_a_batch_system_are_the_scripts(folder: Path) -> None:
    """SIGUSR1 asks it to save; SIGTERM, sent to all, ends it as it would without a judge."""
    with judged(folder) as (process, judge):
        os.killpg(process.pid, signal.SIGUSR1)
        assert process.stdout.readline() == b"checkpoint\n"
        assert not select.select([judge], [], [], 0)[0]
        os.killpg(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT)
        assert gone(judge)
    assert b"traindx: the script was killed by SIGTERM" in err
    assert b"record" in out


PREEMPTED = """
import signal, sys

def hear(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        sys.exit(7)

for number in (signal.SIGUSR1, signal.SIGCONT, signal.SIGTERM):
    signal.signal(number, hear)
"""


@pytest.mark.parametrize("everyone", [False, True])
def test_the_handlers_of_a_script_that_is_preempted_run_and_its_status_is_passed_on(
    folder: Path, everyone: bool
) -> None:
    """As SLURM does: a warning, a requeue, the end; sent to the launcher alone (`scancel --batch`) or to every process of
    the step, the judge's included."""
    script = SCRIPT.replace('signal.signal(signal.SIGUSR1, lambda *_: print("checkpoint", flush=True))', "")
    (folder / "train.py").write_text(PREEMPTED + script)
    with judged(folder, "--propagate-exit") as (process, judge):
        for number in (signal.SIGUSR1, signal.SIGCONT, signal.SIGUSR1, signal.SIGTERM):
            os.killpg(process.pid, number) if everyone else process.send_signal(number)
            assert process.stdout.readline().decode().strip() == number.name
            assert number == signal.SIGTERM or not select.select([judge], [], [], 0)[0]
        out, _ = process.communicate(timeout=LIMIT)
        assert gone(judge)
    assert process.returncode == 7
    assert b"made" in out  # its `finally:` has run


def test_it_has_a_low_priority(folder: Path) -> None:
    with judged(folder) as (process, _):
        (folder / "enough").touch()
        judge = judge_of(process.pid)
        nice = Path(f"/proc/{judge}/stat").read_text().rpartition(")")[2].split()[16]
        process.communicate(timeout=LIMIT)
    assert int(nice) == min(19, os.nice(0) + 10)


def test_at_a_terminal_a_fault_appears_while_the_script_trains(folder: Path) -> None:
    ours, theirs = pty.openpty()
    with started(
        [*COMMAND, *command(300, ENDLESS)],
        cwd=folder,
        env=environment(PYTHONWARNINGS=""),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = b""
        while b"CRITICAL: train/loss is NaN" not in seen:
            assert select.select([ours], [], [], LIMIT)[0], seen
            seen += os.read(ours, 65536)
        (folder / "enough").touch()
        with contextlib.suppress(OSError):  # the end of a pseudo terminal
            while piece := os.read(ours, 65536):
                seen += piece
        status = process.wait(LIMIT)
    os.close(ours)
    assert status == 1
    assert seen.count(b"CRITICAL: train/loss is NaN") == 1
    assert b"begun\r\n" in seen
