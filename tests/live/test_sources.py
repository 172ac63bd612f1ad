"""Files that are still being written, in all the ways in which they are: nothing lost, nothing read twice."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from traindx import readers
from traindx.config import Config
from traindx.errors import NotALog
from traindx.live.episodes import State
from traindx.live.follow import DISCOVER, SETTLED, Follower
from traindx.live.judging_times import Looks, share_of
from traindx.live.sources import Growing, discover, is_rotated
from traindx.vocabulary.live import LiveEvent


def lines(first: int, last: int) -> str:
    return "".join(f"step {i} | loss {2 + 1 / (1 + i):.4f} | lr 0.01\n" for i in range(first, last))


def losses(growing: Growing, whole: bool = False) -> list[float]:
    growing.changed()
    growing.take()
    (run,) = growing.runs(whole=whole)
    return [float(value) for value in run.series["train/loss"].values]


def expected(first: int, last: int) -> list[float]:
    return [float(f"{2 + 1 / (1 + i):.4f}") for i in range(first, last)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def append(log: Path, text: str) -> None:
    with log.open("a") as stream:
        stream.write(text)


def test_a_last_line_that_is_not_whole_waits(log: Path) -> None:
    log.write_text(lines(0, 20) + "step 20 | loss 2.0")
    growing = Growing(log)
    assert losses(growing) == expected(0, 20)
    append(log, "476 | lr 0.01\n")
    assert losses(growing) == expected(0, 21)
    append(log, "step 21 | loss 2.0455")
    assert losses(growing) == expected(0, 21)
    assert losses(growing, whole=True) == expected(0, 22)


def test_a_file_without_a_whole_line_is_no_log_yet(log: Path) -> None:
    log.write_text("step 0 | lo")
    growing = Growing(log)
    growing.changed()
    growing.take()
    with pytest.raises(NotALog):
        growing.runs()


def test_copytruncate_loses_nothing(log: Path) -> None:
    log.write_text(lines(0, 50))
    growing = Growing(log)
    assert losses(growing) == expected(0, 50)
    shutil.copy(log, log.with_name("train.log.1"))
    os.truncate(log, 0)
    assert losses(growing) == expected(0, 50)
    append(log, lines(50, 60))
    assert losses(growing) == expected(0, 60)


def test_rename_and_create_anew_loses_nothing(log: Path) -> None:
    log.write_text(lines(0, 50))
    growing = Growing(log)
    assert losses(growing) == expected(0, 50)
    log.rename(log.with_name("train.log.1"))
    assert not growing.changed()  # nothing there at the moment
    log.write_text(lines(50, 90))
    assert losses(growing) == expected(0, 90)


def rename(log: Path, part: Path) -> None:
    log.rename(part)
    log.touch()


def copy_and_truncate(log: Path, part: Path) -> None:
    shutil.copy(log, part)
    os.truncate(log, 0)


def rename_and_compress(log: Path, part: Path) -> None:
    part.with_name(f"{part.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
    rename(log, part)
    part.unlink()


@pytest.mark.parametrize("rotate", [rename, copy_and_truncate, rename_and_compress])
def test_lines_written_just_before_a_rotation_are_not_lost(log: Path, rotate: Any) -> None:
    log.write_text(lines(0, 50))
    log.with_name("train.log.2").write_text(lines(0, 30))  # an older part, which has nothing to do with it
    log.with_name("train.log.old").write_text(lines(0, 90))
    growing = Growing(log)
    assert losses(growing) == expected(0, 50)
    append(log, lines(50, 60) + "step 60 | lo")
    rotate(log, log.with_name("train.log.1"))
    append(log, "ss 2.0164 | lr 0.01\n" + lines(61, 70))
    assert losses(growing) == expected(0, 70)
    append(log, lines(70, 75))
    assert losses(growing) == expected(0, 75)


def test_a_writer_that_leaves_a_hole_when_its_log_is_truncated(log: Path) -> None:
    growing = Growing(log)
    with log.open("w") as writer:  # not in append mode: it goes on where it was
        for first in (0, 50, 52, 60):
            if first == 50:
                copy_and_truncate(log, log.with_name("train.log.1"))
            writer.write(lines(first, {0: 50, 50: 52, 52: 60, 60: 61}[first]))
            writer.flush()
            assert losses(growing) == expected(0, {0: 50, 50: 52, 52: 60, 60: 61}[first])
    assert log.read_bytes().startswith(b"\0")


def test_two_writers_that_cut_each_other_lose_no_other_line(log: Path) -> None:
    growing = Growing(log)
    append(
        log, lines(0, 40) + "step 40 | lo" + "step 41 | loss 2.0238 | lr 0.01\n" + "ss 2.0244 | lr 0.01\n"
    )
    append(log, lines(42, 60))
    assert set(expected(0, 40) + expected(42, 60)) <= set(losses(growing))


def test_a_shorter_log_in_its_place_is_a_second_run(log: Path) -> None:
    log.write_text(lines(0, 50))
    growing = Growing(log)
    assert losses(growing) == expected(0, 50)
    log.write_text(lines(0, 20))
    growing.changed()
    growing.take()
    assert [run.points for run in growing.runs()] == [50, 20]


def test_a_resume_that_steps_back_is_one_run(log: Path) -> None:
    log.write_text(lines(0, 100))
    growing = Growing(log)
    assert losses(growing) == expected(0, 100)
    append(log, lines(80, 140))
    growing.changed()
    growing.take()
    assert [(run.points, run.last_step) for run in growing.runs()] == [
        (run.points, run.last_step) for run in readers.read_all([log])
    ]


def test_rotated_and_compressed_parts_are_no_runs_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(lines(50, 80))
    (tmp_path / "train.log.1").write_text(lines(20, 50))
    (tmp_path / "train.log.2.gz").write_bytes(gzip.compress(lines(0, 20).encode()))
    (tmp_path / "train.log-20261125").write_text(lines(0, 20))
    assert [path.name for path in discover(tmp_path)] == ["train.log"]
    assert not is_rotated(tmp_path / "run.1")  # without the file that it would be a part of


def test_trials_of_a_fix_and_hidden_files_are_no_runs_of_the_folder(tmp_path: Path) -> None:
    trials = tmp_path / "traindx-fix" / "train-1"
    trials.mkdir(parents=True)
    for path in (tmp_path / "train.log", tmp_path / ".launch", trials / "trials.log"):
        path.write_text(lines(0, 80))
    assert [path.name for path in discover(tmp_path)] == ["train.log"]
    assert len(readers.read_all([tmp_path])) == 1
    assert [path.name for path in discover(trials)] == ["trials.log"], "asked for, they are read"


def test_two_writers_of_one_file(log: Path) -> None:
    first, second = log.open("a"), log.open("a")
    growing = Growing(log)
    for i in range(30):
        stream = (first, second)[i % 2]
        stream.write(lines(i, i + 1))
        stream.flush()
    first.close()
    second.close()
    assert losses(growing) == expected(0, 30)


def test_a_clock_that_jumps_back_hides_nothing(log: Path) -> None:
    log.write_text(lines(0, 10))
    growing = Growing(log)
    assert losses(growing) == expected(0, 10)
    append(log, lines(10, 20))
    os.utime(log, (0, 0))
    assert losses(growing) == expected(0, 20)
    assert not growing.changed()


TEXTS = {
    "train.log": lines(0, 200),
    "log.csv": "step,loss,lr\n" + "".join(f"{i},{2 + 1 / (1 + i):.4f},0.01\n" for i in range(200)),
    "log.jsonl": "".join(
        f'{{"step": {i}, "loss": {2 + 1 / (1 + i):.4f}, "lr": 0.01}}\n' for i in range(200)
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_read_at_any_moment_is_what_the_prefix_reads(tmp_path: Path, name: str) -> None:
    """Appended in pieces of odd sizes, which end anywhere in a line."""
    text, at, log = TEXTS[name].encode(), 0, tmp_path / name
    growing = Growing(log)
    for size in np.random.default_rng(0).integers(1, 400, 40):
        with log.open("ab") as stream:
            stream.write(text[at : at + int(size)])
        at = min(at + int(size), len(text))
        whole = text[: text[:at].rfind(b"\n") + 1]
        growing.changed()
        growing.take()
        if not whole:
            continue
        prefix = log.with_name(f"prefix{log.suffix}")
        prefix.write_bytes(whole)
        (now,), (then,) = growing.runs(), readers.read_all([prefix])
        assert list(now.series) == list(then.series)
        for name, series in now.series.items():
            np.testing.assert_array_equal(series.values, then.series[name].values)
            np.testing.assert_array_equal(series.steps, then.series[name].steps)


def test_a_record_that_is_not_whole_waits(tmp_path: Path) -> None:
    """An event file of TensorBoard that is cut anywhere, as it is while it grows."""
    whole = Path(__file__).parents[1] / "logs/tensorboard_torch/events.out.tfevents.1795174304.vm.2594.0.0"
    data, copy = whole.read_bytes(), tmp_path / whole.name
    growing, points = Growing(copy), [0]
    for end in [*np.linspace(len(data) // 3, len(data), 20).astype(int), len(data)]:
        copy.write_bytes(data[:end])
        growing.changed()
        growing.take()
        points.append(sum(run.points for run in growing.runs()))
    assert points == sorted(points)
    assert points[-1] == sum(run.points for run in readers.read_all([whole]))


class Kept:
    """A follower at times that a test sets, with the events that it gave."""

    def __init__(self, *paths: Path) -> None:
        self.follower = Follower([str(path) for path in paths], Config(), self.keep)
        self.now = 0.0

    def keep(self, event: LiveEvent, key: str, state: State) -> LiveEvent:
        return event

    def after(self, seconds: float) -> list[str]:
        self.now += seconds
        return [event.kind for event in self.follower.poll(self.now)]


def test_runs_that_appear_in_a_folder_are_found(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    assert kept.after(0) == []
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "train.log").write_text(lines(0, 30))
    assert kept.after(DISCOVER) == ["run-started"]


def test_two_thousand_files_are_followed(tmp_path: Path) -> None:
    """Only what changes is read again, and each run starts once."""
    for i in range(2000):
        (tmp_path / f"run{i}.log").touch()
    kept = Kept(tmp_path)
    assert kept.after(0) == []
    assert len(kept.follower.followed) == 2000
    for i in range(0, 2000, 100):
        (tmp_path / f"run{i}.log").write_text(lines(0, 3))
    assert kept.after(60) == ["run-started"] * 20
    assert kept.after(60) == []


@pytest.mark.parametrize("rotate", [rename, copy_and_truncate, rename_and_compress])
def test_silence_and_rotation_resolve_nothing(log: Path, rotate: Any) -> None:
    log.write_text(lines(0, 60) + "step 60 | loss nan | lr 0.01\n" * 3)
    kept = Kept(log)
    assert "finding" in kept.after(0)
    assert [kept.after(3600) for _ in range(5)] == [[]] * 5
    rotate(log, log.with_name("train.log.1"))
    assert [kept.after(3600) for _ in range(5)] == [[]] * 5
    append(log, lines(61, 63))
    assert "resolved" not in kept.after(3600)


def test_a_failure_is_seen_at_once_however_long_a_look_takes(log: Path) -> None:
    log.write_text(lines(0, 400))
    kept = Kept(log)
    assert kept.after(0) == ["run-started"]
    followed = kept.follower.followed[log]
    followed.looks.cost = followed.looks.debt = (
        0.4  # by its share of the processor the next look is due in 20 s
    )
    append(log, lines(400, 402))
    assert kept.after(1.0) == []
    append(log, "step 402 | loss nan | lr 0.01\n")
    assert kept.after(1.0)[0] == "finding"


def test_a_banner_is_no_complaint_and_a_file_of_something_else_is_one(log: Path) -> None:
    log.write_text("Starting up ...\n")
    kept = Kept(log)
    assert kept.after(0) == []
    assert kept.after(SETTLED + 1) == ["unreadable"]
    append(log, "still nothing\n")
    assert kept.after(60) == []  # for the same reason
    append(log, lines(0, 20))
    assert kept.after(60) == ["run-started"]


def test_the_exit_of_a_script_ends_its_run(log: Path) -> None:
    log.write_text(lines(0, 40))
    kept = Kept(log)
    assert kept.after(0) == ["run-started"]
    append(
        log,
        'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\nValueError: shapes\n',
    )
    assert "run-failed" in kept.after(1)
    assert kept.follower.done


def test_a_document_that_is_rewritten_is_read_again(tmp_path: Path) -> None:
    state = tmp_path / "trainer_state.json"

    def write(count: int) -> None:
        history = [
            {"step": 10 * i, "epoch": i / 10, "loss": 2 + 1 / (1 + i), "learning_rate": 0.01}
            for i in range(count)
        ]
        state.write_text(json.dumps({"log_history": history, "global_step": 10 * count, "max_steps": 10000}))

    write(20)
    kept = Kept(state)
    assert kept.after(0) == ["run-started"]
    write(40)
    kept.after(30)
    assert kept.follower.followed[state].runs[0].points == 40


def test_what_capture_notes_in_a_record_is_read_once(tmp_path: Path) -> None:
    """A note that a loss is not finite makes the next look urgent; a note of an evaluation does not."""
    noted = tmp_path / "events-0-7.jsonl"
    noted.write_text('{"kind": "note", "message": "the training evaluates every 100 steps"}\n')
    growing = Growing(tmp_path)
    looks = Looks()
    for bad in (False, True):
        if bad:
            append(noted, '{"kind": "note", "message": "train/loss is not finite"}\n')
        assert growing.changed()
        looks.notice(growing.size, growing.take())
        assert looks.urgent is bad
    assert growing.take() == b""


def test_a_slow_first_look_does_not_delay_a_failure_for_long() -> None:
    """Among 200 runs, the first look at one (which imports what judges) would be paid for in minutes."""
    looks, share = Looks(), share_of(200)
    looks.notice(1000, b"")
    looks.begin(0.0, share)
    looks.looked(1000, 0.5)
    looks.notice(1200, b"")
    assert looks.due(200.0, 1200, share)  # it has grown by a fifth
    looks.begin(200.0, share)
    looks.looked(1200, 0.008)
    looks.notice(1210, b"nan")
    assert not looks.due(200.5, 1210, share)
    assert looks.due(215.0, 1210, share)
