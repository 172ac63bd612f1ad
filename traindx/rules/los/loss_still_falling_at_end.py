"""LOS015: the run ended while the loss was still on its way down."""

from traindx.features.curves.forecast import forecast_curve, target_step
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    np,
    rule,
    slope,
    threshold,
)


@rule(
    code="LOS015",
    needs=("objective",),
    min_points=4,
    severity="info",
    message="{name} is still improving at the end: its last quarter gave {share:.0%} of all it gained{ahead}",
    follows=("loss-falls-slowly",),
)
def loss_still_falling_at_end(
    run: Run,
    features: Features,
    *,
    last: float = threshold(
        0.25, "of the run", "convention", "long enough to have a slope, short enough to be the end"
    ),
    gained: float = threshold(
        0.13, "of the whole gain", "theory", "a straight line gives 0.25, a settled curve under 0.05"
    ),
    slack: float = threshold(0.1, "of the whole gain", "convention", "how far above its best it may end"),
    surely: float = threshold(3.0, "x standard error", "theory", "a slope beyond doubt"),
    few: float = threshold(10, "points", "convention", "fewer have no slope: each must be better"),
) -> Iterator[Evidence]:
    """The slope over the last quarter is clear, and still a good part of the whole.

    ## What it sees
    The change over the last quarter of the points, against its standard error and against all that was gained. Of
    four to nine points each must be better than the one before. Where the curve lets itself be continued, it says
    what going on as long again would bring.

    ## Why it matters
    More steps would have bought more: the budget, not the model, set the result.

    ## When it is wrong
    A learning rate that decays to zero makes any loss fall at the very end; going on would then need another
    schedule.

    ## What to try
    Train longer (see the forecast), or raise the learning rate.

    ## Sources
    Fault catalogue 9, 10; differential.md (undertrained).
    """
    curve = features.needed_curve("objective")
    if curve.n < few:
        yield from every_time(curve, gained)
        return
    tail = slope(curve.oriented[min(int(curve.n * (1 - last)), curve.n - 4) :])
    total = curve.start - curve.end
    share = -tail.change / total if total > 0 else 0.0
    if share < gained or tail.z > -surely:
        return
    # The last points must be the best: a late wobble downward is no trend.
    if curve.end > curve.best + slack * total:
        return
    yield Evidence(
        onset=curve.step_at(int(curve.n * (1 - last))),
        last=float(curve.steps[-1]),
        strength=min(1.0, 0.5 + share),
        values={"name": curve.name, "share": min(share, 1.0), "ahead": continued(run, curve)},
        points=(
            EvidencePoint(
                curve.name,
                float(curve.steps[-1]),
                tail.change * curve.sign,
                None,
                "change over the last quarter",
            ),
        ),
    )


def continued(run: Run, curve: Curve) -> str:
    """What going on would bring, in words: the forecast for the planned end, or for as long again."""
    target = target_step(run, curve)
    ahead = forecast_curve(curve, target)
    if ahead is None:
        return ""
    better = (curve.end * curve.sign - ahead[0]) * curve.sign
    return f"; by {run.axis} {target:.6g} about {ahead[0]:.3g} can be expected" if better > 0 else ""


def every_time(curve: Curve, gained: float) -> Iterator[Evidence]:
    """The few points of a short log get better one after the other, the last by a good part of the whole."""
    changes = np.diff(curve.oriented)
    total = float(curve.oriented[0] - curve.oriented[-1])
    if not len(changes) or changes.max() >= 0 or -float(changes[-1]) < gained * total:
        return
    first, last = float(curve.values[0]), float(curve.values[-1])
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        strength=0.5,
        aspects=("short",),
        message=f"{curve.name} improves at every point, from {first:.4g} to {last:.4g}, and is not done at the end",
        points=(curve.point(0), curve.point(-1)),
    )
