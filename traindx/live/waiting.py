"""Where a run is going, and what it costs to wait: until more can be said of it, or until its planned end."""

import math

import msgspec

from traindx.reports.labels import duration, estimate, name, step
from traindx.vocabulary import Decision, ForecastPoint, Run, RunDiagnosis
from traindx.vocabulary.live import LiveEvent, Waiting

AGAIN = "again at "  # in a reason that names its own step
STATED = 0.8  # the level of the interval that is stated


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


def waiting_of(run: Run, pace: float | None, answer: int | None, price: float | None) -> Waiting | None:
    """What it costs to wait; None where no next step is known. `pace`: steps a second; `answer`: points of the run at
    which more can be said, None where everything is said; `price`: of an hour."""
    last, points = run.last_step, run.points
    left = steps_left(run)
    if answer is not None and last is not None and run.first_step is not None and points > 1:
        spacing = (last - run.first_step) / (points - 1)
        coming = float(math.ceil((answer - points) * spacing))
        left = coming if left is None else min(coming, left)
    if not left or last is None:
        return None
    hours = left / pace / 3600 if pace else None
    return Waiting(last + left, left, hours, None if price is None or hours is None else hours * price)


def forecast_of(diagnosis: RunDiagnosis) -> ForecastPoint | None:
    """Where the loss of a run that goes well is going; None where that says nothing: the interval is wider than the
    value, or the run is sick, so that it does not go on as before."""
    point = next((point for point in diagnosis.forecast if point.level == STATED), None)
    if point is None or diagnosis.health in ("sick", "failed") or diagnosis.run.complete:
        return None
    return point if point.high - point.low <= abs(point.median) else None


def outlook(
    waiting: Waiting | None, forecast: ForecastPoint | None, decision: Decision, axis: str
) -> list[str]:
    """Both as sentences. `axis`: what the steps of the run are."""
    sentences = []
    if forecast is not None:
        low, middle, high = map(estimate, (forecast.low, forecast.median, forecast.high))
        within = f", probably between {low} and {high}" if low != high else ""
        place = f"{axis} {step(forecast.at_step)}"
        sentences.append(f"Forecast: {name(forecast.signal)} about {middle} by {place}{within}.")
    if waiting is not None and AGAIN not in decision.reason:
        amounts = [] if waiting.hours is None else [duration(60 * waiting.hours)]
        amounts += [] if waiting.cost is None else [f"a cost of {estimate(waiting.cost)}"]
        costs = f" ({', '.join(amounts)})" if amounts else ""
        end = f"{axis} {step(waiting.until_step)}"
        going_on = f"Going on to {end} takes {step(waiting.steps)} {axis}s{costs}."
        sentences.append(going_on if decision.action == "stop" else f"Look again at {end}{costs}.")
    return sentences


def with_outlook(
    event: LiveEvent, waiting: Waiting | None, forecast: ForecastPoint | None, axis: str = "step"
) -> LiveEvent:
    """A decision with what waiting costs and where the loss is going."""
    assert event.decision is not None
    sentences = outlook(waiting, forecast, event.decision, axis)
    text = " ".join([f"{event.text.rstrip('.')}.", *sentences]) if sentences else event.text
    return msgspec.structs.replace(event, text=text, waiting=waiting, forecast=forecast)
