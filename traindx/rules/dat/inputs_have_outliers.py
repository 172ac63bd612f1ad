"""DAT003 inputs-have-outliers."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, by_progress, rule, threshold


@rule(
    code="DAT003",
    needs=("setup:inputs_outlier_share",),
    min_points=1,
    severity="medium",
    message="{what}",
)
def inputs_have_outliers(
    run: Run,
    features: Features,
    *,
    share: float = threshold(
        0.002, "of the values", "measured", "healthy: 0.05 % at most (breast cancer); faults more"
    ),
    reach: float = threshold(100.0, "x the mean spread", "convention", "single values that dwarf the rest"),
    beyond: float = threshold(
        30.0, "x the 95 % distance", "measured", "tables: healthy at most 10; a missing decimal point: 900"
    ),
) -> Iterator[Evidence]:
    """A few input values are far away from all others.

    ## What it sees
    The share of values farther than ten standard deviations from their feature's mean, or a largest value a
    hundred times the mean spread. In a table, whose features differ in scale, values are counted that lie
    ten times as far from their feature's median as 95 % of them. Medium where the run does not learn or that
    cannot be told, information where it learns.

    ## Why it matters
    A batch with such a sample has a huge gradient: the loss spikes, or the weights are thrown away at once.

    ## When it is wrong
    Counts, prices and other heavy-tailed features are like that; a logarithm suits them better than a mean
    and a spread.

    ## What to try
    Look at the samples; clip, transform, or drop them; clip the gradient.

    ## Sources
    Huber (1981), Robust statistics; fault catalogue row 77.
    """
    outliers = run.setup.number("inputs_outlier_share") or 0.0
    spread = run.setup.number("inputs_std_mean") or 0.0
    largest = max(abs(run.setup.number("inputs_max") or 0.0), abs(run.setup.number("inputs_min") or 0.0))
    apart = run.setup.number("inputs_outlier_reach")
    far = spread > 0 and largest > reach * spread if apart is None else apart > beyond
    if outliers < share and not far:
        return
    yield Evidence(
        severity=by_progress(features, stuck="medium", unknown="medium", learns="info"),
        strength=1.0 if outliers >= share and far else 0.5,
        aspects=("far",) if far else (),
        values={"what": told(run, outliers, largest)},
        points=(EvidencePoint("inputs_outlier_share", None, outliers, share, "0..1"),),
    )


def told(run: Run, share: float, largest: float) -> str:
    """How far out the farthest value is, and in which features."""
    apart, where = run.setup.number("inputs_outlier_reach"), run.setup.facts.get("inputs_outlier_where")
    count = run.setup.number("inputs_outliers") or 0.0
    if apart is None:
        return f"{share:.2%} of the input values lie more than 10 spreads from their mean, the largest at {largest:.3g}"
    some = "1 value lies" if count == 1 else f"{count:.0f} values lie"
    return (
        f"{some} far from all others of the feature, up to {apart:.3g} times as far as 95 % of them: {where}"
    )
