"""Requests to end that a library swallows or turns into its own error, and standard streams that are closed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.cli.interruptions import Ended, orderly


def send() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def swallowed() -> None:
    with contextlib.suppress(BaseException):  # as a library may
        send()


def swallowed_once() -> None:
    with contextlib.suppress(BaseException):
        try:
            send()
        finally:
            send()  # is ignored while the first goes through
    send()
    raise AssertionError("went on")


class Dropped:
    """Python drops what is raised as this goes."""

    def __del__(self) -> None:
        send()


def dropped() -> None:
    Dropped()
    time.sleep(30)


def clearing(cleared: list[str]) -> None:
    try:
        send()
    finally:
        time.sleep(0.2)
        cleared.append("all")


def test_a_signal_that_is_lost_in_a_destructor_ends_the_work_soon() -> None:
    begun = time.monotonic()
    with pytest.raises(Ended) as ended, orderly(again=0.1):
        dropped()
    assert (ended.value.number, time.monotonic() - begun < 10) == (signal.SIGTERM, True)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_is_cleared_up_meanwhile_is_not_disturbed() -> None:
    cleared: list[str] = []
    with pytest.raises(Ended), orderly(again=0.01):
        clearing(cleared)
    assert cleared == ["all"]


def failing() -> None:
    try:
        send()
    finally:
        {}["gone"]


@pytest.mark.parametrize("work", [swallowed, swallowed_once, failing])
def test_a_lost_signal_still_ends_the_work(work: Callable[[], None]) -> None:
    with pytest.raises(Ended) as ended, orderly():
        work()
    assert ended.value.number == signal.SIGTERM


@pytest.mark.parametrize("closed", ["1", "2", "0,1,2"])
def test_closed_streams_are_led_to_nowhere(closed: str, tmp_path: Path) -> None:
    log = tmp_path / "train.csv"
    log.write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(60)))
    out = tmp_path / "doc.json"
    numbers = [int(one) for one in closed.split(",")]
    command = [sys.executable, "-m", "traindx", "diagnose", str(log), "-f", "json"]
    done = subprocess.run(
        [*command, "-o", str(out)], capture_output=True, preexec_fn=lambda: [os.close(n) for n in numbers]
    )
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(out.read_text())["runs"]
    done = subprocess.run(command, capture_output=True, preexec_fn=lambda: [os.close(n) for n in numbers])
    assert done.returncode in (0, 1), done.stderr
