"""DAT018 targets-have-outliers."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT018",
    needs=("setup:targets_outliers", "setup:targets_outlier_reach"),
    min_points=1,
    severity="medium",
    message="{count:.0f} targets are far from all others, up to {reach:.3g} times the distance of 95 "
    "% of the targets",
)
def targets_have_outliers(
    run: Run,
    features: Features,
    *,
    reach: float = threshold(
        10.0, "x the 95 % distance", "theory", "normal: 2.6 in 1e6 samples; Student t(3): 10 in 1e4"
    ),
) -> Iterator[Evidence]:
    """A few regression targets are far from all others.

    ## What it sees
    Targets more than ten times as far from the median as 95 % of the targets (for positive targets also
    in logarithms, so that heavy tails do not count).

    ## Why it matters
    With a squared error, a target a hundred standard deviations away counts as much as ten thousand
    others.

    ## When it is wrong
    Rare events may be the point of the task.

    ## What to try
    Inspect these rows. Use a Huber loss, a logarithm, or gradient clipping.

    ## Sources
    Huber (1981), Robust statistics, https://doi.org/10.1002/0471725250.
    """
    count, far = run.setup.number("targets_outliers"), run.setup.number("targets_outlier_reach") or 0.0
    if not count or far <= reach:
        return
    yield Evidence(
        values={"count": count, "reach": far},
        points=(EvidencePoint("targets_outlier_reach", None, far, reach, "x the 95 % distance"),),
    )
