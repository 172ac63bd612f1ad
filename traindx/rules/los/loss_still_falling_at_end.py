"""LOS015: the run ended while the loss was still on its way down."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.features.shared import Features
from traindx.features.trends import slope
from traindx.vocabulary.diagnosis import EvidencePoint
from traindx.vocabulary.rule import Evidence, rule, threshold
from traindx.vocabulary.run import Run


@rule(
    code="LOS015",
    needs=("objective",),
    min_points=10,
    severity="info",
    message="{name} is still improving at the end: the last quarter of the run gave {share:.0%} of all it gained",
    follows=("loss-falls-slowly",),
)
def loss_still_falling_at_end(
    run: Run,
    features: Features,
    *,
    last: float = threshold(
        0.25, "of the run", basis="convention", source="long enough to have a slope, short enough to be the end"
    ),
    gained: float = threshold(
        0.13, "of the whole gain", basis="theory", source="a straight line gives 0.25, a settled curve under 0.05"
    ),
    slack: float = threshold(0.1, "of the whole gain", basis="convention", source="how far above its best it may end"),
    surely: float = threshold(3.0, "x standard error", basis="theory", source="a slope beyond doubt"),
) -> Iterator[Evidence]:
    """The slope over the last quarter is clear, and still a good part of the whole.

    ## What it sees
    The change over the last quarter of the points, against its standard error and against all that was gained.

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
    curve = features.curve("objective")
    assert curve is not None
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
        values={"name": curve.name, "share": min(share, 1.0)},
        points=(
            EvidencePoint(
                curve.name, float(curve.steps[-1]), tail.change * curve.sign, None, "change over the last quarter"
            ),
        ),
    )
