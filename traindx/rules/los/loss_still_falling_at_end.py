"""LOS015 loss-still-falling-at-end."""

from traindx.features.curves.forecast import bounds_of, forecast_curve, target_step
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    format_step,
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
    message="{name} was still improving at the end: the last quarter gave {share:.0%} of its gain{ahead}",
    follows=("loss-falls-slowly",),
)
def loss_still_falling_at_end(
    run: Run,
    features: Features,
    *,
    last: float = threshold(0.25, "of the run", "convention", "long enough to have a slope"),
    gained: float = threshold(
        0.13, "of the whole gain", "theory", "a straight line gives 0.25, a settled curve under 0.05"
    ),
    slack: float = threshold(0.1, "of the whole gain", "convention", "how far above its best it may end"),
    surely: float = threshold(3.0, "x standard error", "theory", "a clear slope"),
    few: float = threshold(10, "points", "convention", "fewer have no slope: each must be better"),
) -> Iterator[Evidence]:
    """The run ended while the loss was still improving.

    ## What it sees
    The loss falls over the last quarter of the points, by 3 standard errors and by 13 % of the total gain.
    (A straight line gives 25 %, a settled curve less than 5 %.) With 4 to 9 points, each must be better
    than the one before. If the curve can be extrapolated, the message says what the same time again would
    bring.

    ## Why it matters
    More steps would have improved the result. The budget was the limit, not the model.

    ## When it is wrong
    A learning rate that decays to zero lowers any loss at the very end. To continue, it needs another
    schedule.

    ## What to try
    Train longer (see the forecast), or raise the learning rate.

    ## Sources
    Hoffmann et al. (2022), Training compute-optimal large language models, arXiv:2203.15556. Hestness et al.
    (2017), Deep learning scaling is predictable, empirically, arXiv:1712.00409.
    """
    curve = features.needed_curve("objective")
    if curve.n < few:
        yield from improves_every_time(curve, gained)
        return
    tail = slope(curve.as_loss[min(int(curve.n * (1 - last)), curve.n - 4) :])
    total = curve.start - curve.end
    share = -tail.change / total if total > 0 else 0.0
    if share < gained or tail.z > -surely:
        return
    # The last points must be the best. A late fluctuation downward is not a trend.
    if curve.end > curve.best + slack * total:
        return
    yield Evidence(
        onset=curve.step_at(int(curve.n * (1 - last))),
        last=float(curve.steps[-1]),
        strength=min(1.0, 0.5 + share),
        values={"name": curve.name, "share": min(share, 1.0), "ahead": forecast_words(run, features, curve)},
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


def forecast_words(run: Run, features: Features, curve: Curve) -> str:
    """The forecast for the planned end, or for the same time again, as part of a sentence. Empty where the signal
    cannot be that low or high: no cross-entropy is negative."""
    target = target_step(run, curve)
    ahead = forecast_curve(curve, target)
    if ahead is None or np.clip(ahead[0], *bounds_of(features, curve)) != ahead[0]:
        return ""
    better = (curve.end * curve.sign - ahead[0]) * curve.sign
    return f"; expect about {ahead[0]:.3g} by {run.axis} {format_step(target)}" if better > 0 else ""


def improves_every_time(curve: Curve, gained: float) -> Iterator[Evidence]:
    """Every point of a short log improves, the last by a large part of the whole gain."""
    changes = np.diff(curve.as_loss)
    total = float(curve.as_loss[0] - curve.as_loss[-1])
    if not len(changes) or changes.max() >= 0 or -float(changes[-1]) < gained * total:
        return
    first, last = float(curve.values[0]), float(curve.values[-1])
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        strength=0.5,
        aspects=("short",),
        message=f"{curve.name} improved at every point, from {first:.4g} to {last:.4g}, and was "
        "still improving at the end",
        points=(curve.point(0), curve.point(-1)),
    )
