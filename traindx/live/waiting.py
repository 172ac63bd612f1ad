"""What it costs to wait: until more can be said of a run, or until its planned end."""

from __future__ import annotations

import math

import msgspec

from traindx.reports.labels import duration, number, step
from traindx.vocabulary.live import LiveEvent, Waiting
from traindx.vocabulary.run import Run


def pace_of(run: Run, watched: float | None) -> float | None:
    """Steps a second, by the times in the log, or else as `watched`; None where neither is known."""
    timed = [series for series in run.series.values() if series.times is not None and len(series) > 1]
    if not timed:
        return watched
    longest = max(timed, key=len)
    assert longest.times is not None
    seconds = float(longest.times[-1] - longest.times[0])
    return float(longest.steps[-1] - longest.steps[0]) / seconds if seconds > 0 else None


def steps_left(run: Run) -> float | None:
    """Steps until the planned end; None where that is unknown or behind."""
    planned, last = run.setup.number("planned_steps"), run.last_step
    return planned - last if planned and last is not None and planned > last else None


def with_cost(
    event: LiveEvent, run: Run, pace: float | None, answer: int | None, price: float | None
) -> LiveEvent:
    """A decision with what waiting costs. `pace`: steps a second; `answer`: points of the run at which more can be
    said, None where everything is said; `price`: of an hour."""
    last, points = run.last_step, run.points
    left = steps_left(run)
    if answer is not None and last is not None and run.first_step is not None and points > 1:
        spacing = (last - run.first_step) / (points - 1)
        coming = float(math.ceil((answer - points) * spacing))
        left = coming if left is None else min(coming, left)
    if not left or last is None:
        return event
    hours = left / pace / 3600 if pace else None
    cost = None if price is None or hours is None else hours * price
    waiting = Waiting(until_step=last + left, steps=left, hours=hours, cost=cost)
    amounts = [] if hours is None else [duration(60 * hours)]
    amounts += [] if cost is None else [f"a cost of {number(cost)}"]
    costs = f" ({', '.join(amounts)})" if amounts else ""
    end = step(waiting.until_step)
    sentence = (
        f"Look again at step {end}{costs}."
        if answer
        else f"Going on to step {end} takes {step(left)} steps{costs}."
    )
    return msgspec.structs.replace(event, text=f"{event.text.rstrip('.')}. {sentence}", waiting=waiting)
