"""Work that is ended when its time is used up."""

from __future__ import annotations

import re
import signal

import pytest

from traindx.lab.repair.deadline import OutOfTime, at_most


def endless() -> None:
    while True:
        re.match("a", "b")


def test_work_without_an_end_is_ended_and_nothing_is_left_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OutOfTime), at_most(0.05):
        endless()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_an_outer_bound_stays_in_force() -> None:
    def inner() -> None:
        with pytest.raises(OutOfTime), at_most(0.05):
            endless()
        with at_most(60):
            pass
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.3
        endless()

    with pytest.raises(OutOfTime), at_most(0.3):
        inner()


def test_an_exception_that_python_drops_is_raised_again() -> None:
    class Dropped:
        def __del__(self) -> None:
            with pytest.raises(OutOfTime):
                endless()

    def work() -> None:
        Dropped()
        endless()

    with pytest.raises(OutOfTime), at_most(0.05, again=0.05):
        work()
