"""DAT018 targets-have-outliers."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT018",
    needs=("setup:targets_outliers", "setup:targets_outlier_reach"),
    min_points=1,
    severity="medium",
    message="{count:.0f} targets lie far from all others, up to {reach:.3g} times the distance that 95 % keep to",
)
def targets_have_outliers(
    run: Run,
    features: Features,
    *,
    reach: float = threshold(
        10.0, "x the 95 % distance", "theory", "normal: 2.6 in 1e6 samples; Student t(3): 10 in 1e4"
    ),
) -> Iterator[Evidence]:
    """A few regression targets are far away from all others.

    ## What it sees
    Targets more than ten times as far from the median as 95 % of the targets are (for positive targets in
    logarithms, too, so that heavy tails do not count).

    ## Why it matters
    Under a squared error a target a hundred spreads off weighs as much as ten thousand others.

    ## When it is wrong
    Rare events that are the point of the task.

    ## What to try
    Look at these rows; a Huber loss, a logarithm, or clipped gradients.

    ## Sources
    Huber (1981), Robust statistics; fault catalogue row 76.
    """
    count, far = run.setup.number("targets_outliers"), run.setup.number("targets_outlier_reach") or 0.0
    if not count or far <= reach:
        return
    yield Evidence(
        values={"count": count, "reach": far},
        points=(EvidencePoint("targets_outlier_reach", None, far, reach, "x the 95 % distance"),),
    )
