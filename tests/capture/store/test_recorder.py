"""The store's writer: what is written is read again, whatever happens to the process or the disk."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx.capture.session.steps import COLUMNS, STEPS, Flight
from traindx.capture.store.recorder import Recorder
from traindx.errors import NotALog
from traindx.vocabulary.run import Event

START = 1.7e9


def write(recorder: Recorder, first: int, last: int) -> None:
    """Steps with two scalars, a panel on every tenth, and a rare signal."""
    for step in range(first, last):
        recorder.scalars(step, START + step, {"train/loss": 1 / (1 + step), "lr": 0.1})
        if step % 10 == 0:
            recorder.panel(step, START + step, "grad_norm", "a\nb", [float(step), float("nan")])
        if step % 500 == 0:
            recorder.scalars(step, START + step, {"val/loss": float(step)})


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def test_everything_is_read_again(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, budget=1 << 20)
    for first in range(0, 300, 100):
        write(recorder, first, first + 100)
        recorder.flush()
    recorder.event(Event("note", "a word", 7.0, "here", "word"), START)
    recorder.event(Event("note", "over", 299.0, "", "ended"), START)
    recorder.setup({"framework": "torch", "facts": {"lr": 0.1, "depth": 3}})
    recorder.close()
    recorder.close()
    run = traindx.read(tmp_path)
    assert run.series["train/loss"].values.tolist() == [1 / (1 + s) for s in range(300)]
    assert run.panels["grad_norm"].modules == ("a", "b")
    assert run.panels["grad_norm"].values[:, 0].tolist() == list(range(0, 300, 10))
    assert np.isnan(run.panels["grad_norm"].values[:, 1]).all()
    assert run.complete
    assert (run.setup.lr, run.setup.number("depth"), run.framework) == (0.1, 3.0, "torch")
    assert [(e.message, e.step, e.place, e.code) for e in run.events if e.kind == "note"] == [
        ("a word", 7.0, "here", "word")
    ]


def test_nothing_measured_is_an_empty_folder(tmp_path: Path) -> None:
    Recorder(tmp_path / "run", budget=1 << 20).close()
    assert list((tmp_path / "run").iterdir()) == []


def test_a_budget_holds_and_keeps_the_whole_of_a_run(tmp_path: Path) -> None:
    """Old steps thin out; each value that stays is right; the end is dense; rare signals stay whole."""
    recorder, budget, most = Recorder(tmp_path, budget=200_000), 200_000, 0
    for first in range(0, 30_000, 50):
        write(recorder, first, first + 50)
        recorder.flush()
        most = max(most, size(tmp_path))
    recorder.setup({})
    recorder.close()
    run = traindx.read(tmp_path)
    loss = run.series["train/loss"]
    assert most <= budget
    assert (loss.values == 1 / (1 + loss.steps)).all()
    assert (np.diff(loss.steps) > 0).all()
    assert len(loss) > 500
    assert (loss.steps[0], loss.steps[-1]) == (0, 29_999)
    assert loss.steps[-50:].tolist() == list(range(29_950, 30_000))
    assert (loss.steps < 15_000).sum() > 50
    assert run.series["val/loss"].steps.tolist() == list(range(0, 30_000, 500))
    panel = run.panels["grad_norm"]
    assert (panel.values[:, 0] == panel.steps).all()
    assert not [e for e in run.events if e.kind == "parse-warning"]


def test_kill_at_any_moment_loses_only_what_was_not_flushed(tmp_path: Path) -> None:
    """Fifty times: a process that writes and flushes is killed when its file has a random size."""
    draw = random.Random(1)
    for turn in range(50):
        folder = tmp_path / str(turn)
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            recorder = Recorder(folder, budget=40_000 if turn % 2 else 1 << 20)
            for first in range(0, 10**9, 20):
                write(recorder, first, first + 20)
                recorder.flush()
                os.write(write_end, (first + 20).to_bytes(8, "little"))
        os.close(write_end)
        received = os.read(read_end, 8 * draw.randint(1, 60))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(read_end, 1 << 16):
            received += more
        os.close(read_end)
        flushed = int.from_bytes(received[-8:], "little")
        loss = traindx.read(folder).series["train/loss"]
        assert loss.steps[-1] >= flushed - 1
        assert (loss.values == 1 / (1 + loss.steps)).all()
        if turn % 2 == 0:
            assert len(loss) == loss.steps[-1] + 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorder = Recorder(tmp_path, budget=1 << 20)
    tmp_path.chmod(0o500)
    write(recorder, 0, 100)
    recorder.close()
    tmp_path.chmod(0o700)
    assert capsys.readouterr().err.count("traindx:") == 1


IMPORTS = """
import sys
from pathlib import Path
from traindx.capture.store.recorder import Recorder
recorder = Recorder(Path(sys.argv[1]), budget=1 << 20)
recorder.scalars(1, 1.7e9, {"train/loss": 1.0})
recorder.panel(1, 1.7e9, "grad_norm", "a\\nb", [1.0, 2.0])
recorder.close()
print("pandas" in sys.modules)
"""


def test_writing_imports_no_pandas(tmp_path: Path) -> None:
    """pyarrow.array would: a second in the middle of a training, and a library the script did not ask for."""
    pytest.importorskip("pandas")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert traindx.read(tmp_path).panels["grad_norm"].modules == ("a", "b")


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, budget=1 << 20)
    write(recorder, 0, 10)
    child = os.fork()
    if child == 0:
        write(recorder, 10, 20)
        recorder.close()
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(NotALog):
        traindx.read(tmp_path)
    recorder.close()
    assert len(traindx.read(tmp_path).series["train/loss"]) == 10


def test_setup_is_replaced_as_a_whole_and_only_by_the_first_rank(tmp_path: Path) -> None:
    first, second = (Recorder(tmp_path, budget=1 << 20, rank=r) for r in (0, 1))
    first.setup({"facts": {"a": 1}})
    second.setup({"facts": {"a": 2}})
    first.setup({"facts": {"a": 3}})
    assert json.loads((tmp_path / "setup.json").read_text())["facts"] == {"a": 3}
    assert [p.name for p in tmp_path.iterdir()] == ["setup.json"]
    write(first, 0, 5)
    second.scalars(3, START, {"time/step": 2.0})
    first.close()
    second.close()
    run = traindx.read(tmp_path)
    assert run.series["rank/1/time/step"].values.tolist() == [2.0]
    assert len(run.series["train/loss"]) == 5


def test_the_flight_recorder_keeps_the_last_steps() -> None:
    flight = Flight(steps=4)
    for step in range(10):
        flight.add(
            step, START + step, {"a": float(step), "b": float("nan")}, [("k", None, step)], step % 2 == 0
        )
    flight.add(10, START, {"c": 1.0}, [], False)
    kept = list(flight.empty())
    assert [(s, sorted(v), r) for s, _, v, r in kept] == [
        (7, ["a", "b"], [("k", None, 7)]),
        (8, [], [("k", None, 8)]),
        (9, ["a", "b"], [("k", None, 9)]),
        (10, ["c"], []),
    ]
    assert np.isnan(kept[0][2]["b"])
    assert list(flight.empty()) == []


def test_the_flight_recorder_has_room_for_so_many_names() -> None:
    flight = Flight()
    for step in range(2 * STEPS):
        flight.add(step, START, {str(i): float(i) for i in range(COLUMNS + 5)}, [], False)
    kept = list(flight.empty())
    assert len(kept) == STEPS
    assert kept[0][2] == {str(i): float(i) for i in range(COLUMNS)}
