"""Several at a time."""

from __future__ import annotations

import threading

import pytest

from traindx.lab.conduct.parallel import cores, run_all, threads_each

SEVERAL = pytest.mark.skipif(cores() < 2, reason="needs two cores")


def test_results_are_in_the_order_of_the_jobs() -> None:
    jobs = [lambda stop, i=i: i * i for i in range(7)]
    assert run_all(jobs) == run_all(jobs, workers=4) == [i * i for i in range(7)]
    assert run_all([], workers=3) == []


@SEVERAL
def test_two_at_a_time_and_never_more() -> None:
    meet = threading.Barrier(2, timeout=60)  # is passed only by two at once
    lock, now, most = threading.Lock(), 0, 0

    def job(stop: threading.Event) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        meet.wait()
        with lock:
            now -= 1

    run_all([job] * 6, workers=2)
    assert most == 2


@SEVERAL
def test_one_that_fails_ends_the_others() -> None:
    ended = []

    def waits(stop: threading.Event) -> None:
        ended.append(stop.wait(60))

    def fails(stop: threading.Event) -> None:
        raise ValueError("this one")

    with pytest.raises(ValueError, match="this one"):
        run_all([waits, fails, waits], workers=2)
    assert ended
    assert all(ended)


def test_threads_are_shared_out() -> None:
    assert threads_each(1) == cores()
    assert threads_each(10_000) == 1
