"""DAT003 inputs-have-outliers."""

from traindx.rules.api import (
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    progress_severity,
    rule,
    threshold,
)


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
    reach: float = threshold(
        100.0, "x the mean spread", "convention", "single values far larger than the rest"
    ),
    beyond: float = threshold(
        30.0, "x the 95 % distance", "measured", "tables: healthy at most 10; a missing decimal point: 900"
    ),
) -> Iterator[Evidence]:
    """A few input values are far from all others.

    ## What it sees
    The share of values more than ten standard deviations from their feature's mean, or a largest value a
    hundred times the mean standard deviation. In a table, whose features differ in scale: values ten times as
    far from their feature's median as 95 % of the others. Severity is medium, and info if the run learns.

    ## Why it matters
    A batch with such a sample has a huge gradient: the loss spikes, or one step ruins the weights.

    ## When it is wrong
    Counts, prices and other heavy-tailed features look like this. A logarithm suits them better than a
    mean and a standard deviation. Inputs between 0 and 1, as of a one-hot code, are not judged.

    ## What to try
    Inspect the samples. Clip, transform or drop them, and clip the gradient.

    ## Sources
    Huber (1981), Robust statistics, https://doi.org/10.1002/0471725250.
    """
    outliers = run.setup.number("inputs_outlier_share") or 0.0
    spread = run.setup.number("inputs_std_mean") or 0.0
    largest = max(abs(run.setup.number("inputs_max") or 0.0), abs(run.setup.number("inputs_min") or 0.0))
    apart = run.setup.number("inputs_outlier_reach")
    far = spread > 0 and largest > reach * spread if apart is None else apart > beyond
    low, high = run.setup.number("inputs_min"), run.setup.number("inputs_max")
    coded = apart is None and low is not None and low >= 0 and high is not None and high <= 1
    if (outliers < share and not far) or coded:  # the ones of rare letters are no outliers
        return
    yield Evidence(
        severity=progress_severity(features, stuck="medium", unknown="medium", learns="info"),
        strength=1.0 if outliers >= share and far else 0.5,
        aspects=("far",) if far else (),
        values={"what": farthest_values(run, outliers, largest)},
        points=(EvidencePoint("inputs_outlier_share", None, outliers, share, "0..1"),),
    )


def farthest_values(run: Run, share: float, largest: float) -> str:
    """How far away the farthest value is, and in which features."""
    apart, where = run.setup.number("inputs_outlier_reach"), run.setup.facts.get("inputs_outlier_where")
    count = run.setup.number("inputs_outliers") or 0.0
    if apart is None:
        share_far = f"{share:.2%} of the input values are more than 10 standard deviations from their mean"
        return f"{share_far}, the largest at {largest:.3g}"
    some = "1 value is" if count == 1 else f"{count:.0f} values are"
    return (
        f"{some} far from all others of the feature, up to {apart:.3g} times as far as 95 % of them: {where}"
    )
