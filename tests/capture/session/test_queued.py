"""The time that a step waits for a processor is separated from the time it takes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from traindx.capture.session import clock
from traindx.capture.session.clock import Clock, Queued


@pytest.fixture
def scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Linux reports for a thread: nanoseconds on a processor, nanoseconds without one, turns."""
    file = tmp_path / "schedstat"
    file.write_text("5000000000 1000000000 7\n")
    monkeypatch.setattr(clock, "SCHEDULED", str(file))
    return file


def test_each_lap_gives_the_wait_since_the_last(scheduler: Path) -> None:
    queued = Queued()
    assert queued.lap() is None
    scheduler.write_text("6000000000 1250000000 9\n")
    assert queued.lap() == pytest.approx(0.25)
    assert queued.lap() == 0.0
    queued.close()


def test_no_wait_is_given_where_the_system_reports_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "SCHEDULED", str(tmp_path / "none"))
    queued = Queued()
    assert [queued.lap(), queued.lap()] == [None, None]


@pytest.mark.skipif(not Path(clock.SCHEDULED).exists(), reason="only Linux reports it")
def test_one_thread_after_another_may_step() -> None:
    """What the first had open is gone with it."""
    queued, laps = Queued(), []
    for _ in range(8):
        thread = threading.Thread(target=lambda: laps.extend([queued.lap(), queued.lap()]))
        thread.start()
        thread.join()
    queued.close()
    assert len(laps) == 16
    assert all(seconds is None for seconds in laps[::2])
    assert sum(seconds is not None for seconds in laps[1::2]) >= 7


def test_a_step_is_never_queued_for_longer_than_it_took(scheduler: Path) -> None:
    times = iter([0.0, 1.0, 1.0 + 1e-3])
    own = Clock(lambda: next(times), Queued())
    own.lap()
    scheduler.write_text("5000000000 1400000000 8\n")
    assert own.lap() == {"time/step": pytest.approx(1.0), "time/queued": pytest.approx(0.4)}
    scheduler.write_text("5000000000 9400000000 9\n")
    found = own.lap()
    assert found["time/queued"] == found["time/step"] == pytest.approx(1e-3)
    own.close()


def test_the_first_step_is_timed_from_its_first_phase() -> None:
    times = iter([10.0, 13.0, 13.5, 21.0, 22.0])
    clock = Clock(lambda: next(times))
    assert clock.facts() == {}
    clock.add("data", 2.0)  # at 10: the first batch was asked for at 8
    clock.begin("forward")
    clock.end("forward")
    assert "time/step" not in clock.lap()  # at 21
    assert clock.facts() == {"first_step_seconds": 13.0}
    assert clock.lap()["time/step"] == 1.0
    assert clock.facts() == {"first_step_seconds": 13.0}
