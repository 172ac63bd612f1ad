"""LRS004: the learning rate is zero, always or for long."""

from traindx.features.curves.schedule import Stretch, coarsely_printed, stretches, traces
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    rule,
    slope,
    threshold,
)


@rule(
    code="LRS004",
    needs=("lr|lr/*",),
    min_points=3,
    severity="medium",
    message="{signal} is zero {when} ({count} of {points} points)",
)
def learning_rate_is_zero(
    run: Run,
    features: Features,
    *,
    zero: float = threshold(1e-12, "of the peak", "theory", "below half-precision and single rounding"),
    short: float = threshold(3, "points", "convention", "warm-up from zero, decay to zero, skipped steps"),
    part: float = threshold(0.05, "of the points", "convention", "a stretch that can be seen in a plot"),
    end: float = threshold(0.1, "of the points", "convention", "schedules end a little early"),
    sure: float = threshold(4.0, "x the error of the slope", "theory", "4 sigma"),
    enough_to_tell: float = threshold(20, "points of the objective", "convention", "a slope can be seen"),
    learns: float = threshold(0.1, "of the progress", "convention", "the loss moves: the zero is rounded"),
) -> Iterator[Evidence]:
    """The learning rate is zero, in all of the run or in a long stretch of it.

    ## What it sees
    Zeros (or less than 1e-12 of the peak) at all points, at the start for longer than a warm-up begins, in
    the middle, or for a long end. A zero that is a small number printed with few digits is told by the
    digits of the others and by an objective that goes on improving.

    ## Why it matters
    Nothing is learned there; what moves in the loss is the noise of the batches.

    ## When it is wrong
    A group frozen on purpose; a rate that is logged by its scale or for another optimizer.

    ## What to try
    Look at the order of scheduler and optimizer, the planned number of steps, and the base rate.

    ## Sources
    PyTorch documentation, torch.optim.lr_scheduler; the fault catalogue of the project's benchmark.
    """
    curves = traces(features)
    moving = [c for c in curves if c.values.max() > 0]
    for curve in curves:
        still = curve.values <= zero * max(float(curve.values.max()), 0)
        if still.all():
            if not improves(features.objective, curve, Stretch(0, curve.n), sure, learns) and not moving:
                seen = features.objective is not None and features.objective.n >= enough_to_tell
                some: Severity = "medium" if curve.n > short else "low"
                yield tell(curve, Stretch(0, curve.n), "always", "high" if seen else some)
                return
            continue
        found = [] if coarsely_printed(curve.values) else stretches(still)
        for stretch in sorted(found, key=lambda s: -s.length):
            place = where(stretch, curve.n)
            enough = max(short, (end if place == "at-end" else part) * curve.n)
            if stretch.length > enough and not improves(features.objective, curve, stretch, sure, learns):
                yield tell(curve, stretch, place, "medium" if place == "middle" else "low")
                return


def where(stretch: Stretch, n: int) -> str:
    if stretch.start == 0:
        return "at-start"
    return "at-end" if stretch.stop == n else "middle"


def improves(objective: Curve | None, curve: Curve, stretch: Stretch, sure: float, learns: float) -> bool:
    """Whether the objective gets better during a stretch of the rate: then the rate was not zero."""
    if objective is None or objective.span <= 0:
        return False
    start, stop = curve.step_at(stretch.start), curve.step_at(stretch.stop - 1)
    during = objective.oriented[(objective.steps >= start) & (objective.steps <= stop)]
    trend = slope(during) if len(during) >= 4 else None
    return trend is not None and trend.z < -sure and -trend.change > learns * objective.span


def tell(curve: Curve, stretch: Stretch, place: str, severity: Severity) -> Evidence:
    start, stop = curve.step_at(stretch.start), curve.step_at(stretch.stop - 1)
    words = {
        "always": "at every point",
        "at-start": f"from the start to step {stop:.6g}",
        "at-end": f"from step {start:.6g} to the end",
        "middle": f"from step {start:.6g} to {stop:.6g}",
    }
    return Evidence(
        onset=start,
        last=stop,
        where=curve.name,
        aspects=(place,),
        severity=severity,
        values={"signal": curve.name, "when": words[place], "count": stretch.length, "points": curve.n},
        points=(
            EvidencePoint(curve.name, start, float(curve.values[stretch.start]), float(curve.values.max())),
            EvidencePoint(
                curve.name, stop, float(curve.values[stretch.stop - 1]), float(curve.values.max())
            ),
        ),
    )
