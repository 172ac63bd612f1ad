"""The terminal view at 80 columns, and how it waits for a log that is still empty."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from traindx.config import Config
from traindx.live.episodes import State
from traindx.live.follow import Follower
from traindx.live.screen import View
from traindx.vocabulary.live import LiveEvent


def keep(event: LiveEvent, _key: str, _state: State) -> LiveEvent:
    return event


def lines(first: int, last: int, loss: str | None = None) -> str:
    return "".join(
        f"step {i}/1000 | loss {loss or f'{2.3 * 0.97**i + 0.3:.4f}'} | lr 0.1\n" for i in range(first, last)
    )


def drawn(follower: Follower) -> str:
    console = Console(file=io.StringIO(), width=80, height=24, color_system=None)
    console.print(View(follower).draw(80, 24))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_pace_and_the_time_left_are_those_of_the_time_that_was_watched(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(0, 100))
    follower = Follower([str(log)], Config(), keep)
    list(follower.poll(0.0))
    assert "a second" not in drawn(follower)  # nothing has come since: how fast it runs is unknown
    with log.open("a") as stream:
        stream.write(lines(100, 150))
    list(follower.poll(1000.0))
    view = drawn(follower)
    assert "Step 149 of 1,000, 0.05 steps a second." in view
    assert "4.7 h" in view  # (1000 - 149) / 0.05 s
    assert "Continue: " in view
    assert "Look again at step 187 (13 min)." in view


def test_runs_of_one_name_are_shown_with_their_folders(tmp_path: Path) -> None:
    logs = [tmp_path / "a" / "train.log", tmp_path / "b" / "train.log"]
    for log in logs:
        log.parent.mkdir()
        log.write_text(lines(0, 100))
    follower = Follower([str(log) for log in logs], Config(), keep)
    list(follower.poll(0.0))
    view = drawn(follower)
    assert "a/train.log" in view
    assert "b/train.log" in view


def test_long_sentences_go_on_in_the_next_line(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(lines(0, 100) + lines(100, 120, "nan"))
    follower = Follower([str(log)], Config(), keep)
    list(follower.poll(0.0))
    row = View(follower).rows()[0]
    assert len(row.diagnosis.decision.reason) > 70  # else this test shows nothing
    view = drawn(follower)
    assert row.diagnosis.decision.reason in view.replace("\n", " ").replace("  ", " ")
    assert max(map(len, view.splitlines())) <= 80


def test_an_empty_log_is_waited_for_and_a_foreign_one_is_reported(tmp_path: Path) -> None:
    log, foreign = tmp_path / "train.log", tmp_path / "notes.log"
    log.write_text("")
    foreign.write_text("this is a note\n")
    follower = Follower([str(log), str(foreign)], Config(), keep)
    assert list(follower.poll(0.0)) == []
    assert [(event.kind, event.run) for event in follower.poll(60.0)] == [("unreadable", "notes.log")]
    log.write_text(lines(0, 100))
    assert [(event.kind, event.run) for event in follower.poll(120.0)] == [("run-started", str(log))]
