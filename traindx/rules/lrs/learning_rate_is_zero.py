"""LRS004 learning-rate-is-zero."""

from traindx.features.curves.schedule import Stretch, coarsely_printed, traces
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    format_step,
    np,
    rule,
    slope,
    stretches,
    threshold,
)


@rule(
    code="LRS004",
    needs=("lr|lr/*",),
    min_points=3,
    severity="medium",
    message="{signal} is {size} {when} ({count} of {points} points)",
)
def learning_rate_is_zero(
    run: Run,
    features: Features,
    *,
    zero: float = threshold(1e-12, "of the peak", "theory", "below half-precision and single rounding"),
    short: float = threshold(3, "points", "convention", "warm-up from zero, decay to zero, skipped steps"),
    part: float = threshold(0.05, "of the points", "convention", "visible in a plot"),
    end: float = threshold(0.1, "of the points", "convention", "schedules may end slightly early"),
    sure: float = threshold(4.0, "x the error of the slope", "theory", "4 sigma"),
    enough_to_tell: float = threshold(20, "points of the objective", "convention", "a slope can be seen"),
    learns: float = threshold(0.1, "of the progress", "convention", "the loss moves: the zero is rounded"),
) -> Iterator[Evidence]:
    """The learning rate is zero in all of the run or in a long part of it.

    ## What it sees
    A learning rate of zero (below 1e-12 of the peak) at every point, or in a stretch of more than 3 points.
    The stretch must hold 5 % of the points, or 10 % if it is at the end. A small rate that is printed as 0
    is recognized by the digits of the other values, and by an objective that still improves. Severity is
    high if the rate is zero throughout a log of 20 points or more, medium if it is zero in the middle, and
    low otherwise.

    ## Why it matters
    The weights do not change there. What moves in the loss is the noise of the batches.

    ## When it is wrong
    A parameter group that is frozen on purpose. A rate that is logged as a factor, or for another optimizer.

    ## What to try
    Check the order of `scheduler.step()` and `optimizer.step()`, the planned number of steps, and the base
    rate.

    ## Sources
    PyTorch, how to adjust the learning rate:
    https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate.
    """
    curves = traces(features)
    moving = [c for c in curves if c.values.max() > 0]
    for curve in curves:
        still = curve.values <= zero * max(float(curve.values.max()), 0)
        if still.all():
            if not improves(features.objective, curve, Stretch(0, curve.n), sure, learns) and not moving:
                seen = features.objective is not None and features.objective.n >= enough_to_tell
                some: Severity = "medium" if curve.n > short else "low"
                yield evidence(curve, Stretch(0, curve.n), "always", "high" if seen else some)
                return
            continue
        found = [] if coarsely_printed(curve.values) else [Stretch(*ends) for ends in stretches(still)]
        for stretch in sorted(found, key=lambda s: -s.length):
            place = place_in_run(stretch, curve.n)
            enough = max(short, (end if place == "at-end" else part) * curve.n)
            if stretch.length > enough and not improves(features.objective, curve, stretch, sure, learns):
                yield evidence(curve, stretch, place, "medium" if place == "middle" else "low")
                return


def place_in_run(stretch: Stretch, n: int) -> str:
    if stretch.start == 0:
        return "at-start"
    return "at-end" if stretch.stop == n else "middle"


def improves(objective: Curve | None, curve: Curve, stretch: Stretch, sure: float, learns: float) -> bool:
    """Whether the objective improves during a stretch of the rate, which then was not really zero."""
    if objective is None or objective.span <= 0:
        return False
    start, stop = curve.step_at(stretch.start), curve.step_at(stretch.stop - 1)
    during = objective.as_loss[(objective.steps >= start) & (objective.steps <= stop)]
    if len(during) < 4:  # a fall at each of two or three points
        falls = len(during) > 1 and bool((np.diff(during) < 0).all())
        return falls and float(during[0] - during[-1]) > learns * abs(float(during[0]))
    trend = slope(during)
    if float(during[:3].mean() - during[-3:].mean()) > objective.span / 2:
        return True  # most of what the run gained, however it is spread
    return trend.z < -sure and -trend.change > learns * objective.span


def evidence(curve: Curve, stretch: Stretch, place: str, severity: Severity) -> Evidence:
    start, stop = curve.step_at(stretch.start), curve.step_at(stretch.stop - 1)
    words = {
        "always": "at every point",
        "at-start": f"from the start to step {format_step(stop)}",
        "at-end": f"from step {format_step(start)} to the end",
        "middle": f"from step {format_step(start)} to {format_step(stop)}",
    }
    largest = float(curve.values[stretch.start : stretch.stop].max())
    return Evidence(
        onset=start,
        last=stop,
        where=curve.name,
        aspects=(place,) if largest <= 0 else (place, "tiny"),
        severity=severity,
        values={
            "signal": curve.name,
            "size": "zero" if largest <= 0 else f"almost zero (at most {largest:.2g})",
            "when": words[place],
            "count": stretch.length,
            "points": curve.n,
        },
        points=(
            EvidencePoint(curve.name, start, float(curve.values[stretch.start]), float(curve.values.max())),
            EvidencePoint(
                curve.name, stop, float(curve.values[stretch.stop - 1]), float(curve.values.max())
            ),
        ),
    )
