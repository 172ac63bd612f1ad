"""DAT002 inputs-not-normalized."""

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    by_progress,
    is_learning,
    rule,
    threshold,
)


@rule(
    code="DAT002",
    needs=("setup:inputs_std_max",),
    min_points=1,
    severity="medium",
    message="the inputs are {how}: mean {mean:.3g}, spread {spread:.3g}",
)
def inputs_not_normalized(
    run: Run,
    features: Features,
    *,
    large: float = threshold(
        10.0, "mean or spread", "seed", "requirements: spread over 10; bytes have 60 to 70"
    ),
    small: float = threshold(
        0.01, "largest spread", "measured", "divided by 255 twice: 0.002; healthy: 0.25 and more"
    ),
    offset: float = threshold(
        5.0, "mean over spread", "convention", "almost all of the input is a constant"
    ),
    spoilt: float = threshold(0.002, "of the values", "measured", "outliers: then they set the spread"),
    reach: float = threshold(3.0, "spreads", "theory", "the largest of 100 to 1000 normal values"),
    rare: float = threshold(0.5, "a batch", "convention", "most batches then hold none in a feature"),
) -> Iterator[Evidence]:
    """The inputs of the model are in raw units: far from a mean near 0 and a spread near 1.

    ## What it sees
    Mean and spread over the features, from the batches that passed by: either above 10, all spreads below
    0.01 (scaled twice), or a mean many times the spread. High where the run does not learn, medium where
    that cannot be told, information where it learns, or where a file was looked at: what scales it comes
    later. Where outliers set the mean and the spread, the scale is a third of the largest value of a batch,
    in the median over features and batches.

    ## Why it matters
    Weights are initialized for inputs of unit size; others saturate the first layer, blow up its gradient,
    or starve it.

    ## When it is wrong
    A normalization inside of the model (or bytes, which it must convert) makes up for it; then the run
    learns.

    ## What to try
    Standardize each feature with the training set's mean and spread; divide images by 255 once.

    ## Sources
    LeCun et al. (1998), Efficient backprop; fault catalogue rows 39, 64, 65, 66.
    """
    setup = run.setup
    if setup.word("inputs_dtype") == "uint8":
        raise CannotJudge("inputs are bytes, which the model converts itself")
    widest, mean = setup.number("inputs_std_max") or 0.0, setup.number("inputs_mean_abs") or 0.0
    spread = setup.number("inputs_std_mean") or widest
    outliers = setup.number("inputs_outlier_share") or 0.0
    if outliers >= spoilt:
        usual = setup.number("inputs_absmax_median")
        if usual is None or outliers * (setup.number("batch_size") or 0.0) >= rare:
            raise CannotJudge("a few outliers set the mean and the spread")
        widest = spread = usual / reach
        mean = 0.0
    how = "large" if max(mean, spread) > large else "tiny" if 0 < widest < small and mean < small else ""
    how = how or ("far from zero" if spread > 0 and mean > max(offset * spread, 1) else "")
    if not how:
        return
    yield Evidence(
        severity=by_progress(features, stuck="high", unknown=unknown(run), learns="info"),
        strength=1.0 if is_learning(features) is False else 0.5,
        aspects=(how.split()[0],),
        values={"how": how, "mean": mean, "spread": spread},
        points=(
            EvidencePoint("inputs_std_mean", None, spread, 1.0),
            EvidencePoint("inputs_mean_abs", None, mean, 0.0),
        ),
    )


def unknown(run: Run) -> Severity:
    """How grave it is where nothing tells whether the run learns: a file may still be scaled."""
    return "info" if run.setup.flag("data_is_raw") else "medium"
