"""DAT002 inputs-not-normalized."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="DAT002",
    needs=("setup:inputs_std_max",),
    min_points=1,
    severity="medium",
    message="the inputs are {how}: mean {mean:.3g}, standard deviation {spread:.3g}",
)
def inputs_not_normalized(
    run: Run,
    features: Features,
    *,
    large: float = threshold(10.0, "mean or spread", "convention", "10x the intended scale; bytes: 60-70"),
    small: float = threshold(
        0.01, "largest spread", "measured", "divided by 255 twice: 0.002; healthy: 0.25 and more"
    ),
    offset: float = threshold(5.0, "mean over spread", "convention", "almost all of the input is constant"),
    spoilt: float = threshold(0.002, "of the values", "measured", "outliers then dominate the deviation"),
    reach: float = threshold(3.0, "spreads", "theory", "the largest of 100 to 1000 normal values"),
    rare: float = threshold(0.5, "a batch", "convention", "most batches then have none in a feature"),
) -> Iterator[Evidence]:
    """The inputs are in raw units: their mean is far from 0, or their standard deviation far from 1.

    ## What it sees
    Mean and standard deviation over the features of the batches that were read: either is above 10, all
    deviations are below 0.01 (scaled twice), or the mean is many times the deviation. Severity is high if the
    run does not learn, medium if that is not known, and info if it learns. It is also info if only a file was
    read, because the script may scale it later. Where outliers dominate both, the scale is a third of the
    largest value of a batch (median over features and batches).

    ## Why it matters
    Weights are initialized for inputs of unit scale. Other inputs saturate the first layer, or make its
    gradient too large or too small.

    ## When it is wrong
    A normalization layer inside the model, or the conversion of bytes, compensates for it. Then the run
    learns.

    ## What to try
    Standardize each feature with the mean and standard deviation of the training data. Divide images by
    255 once.

    ## Sources
    LeCun et al. (1998), Efficient backprop, https://doi.org/10.1007/3-540-49430-8_2.
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
            raise CannotJudge("a few outliers dominate the mean and the standard deviation")
        widest = spread = usual / reach
        mean = 0.0
    how = "large" if max(mean, spread) > large else "tiny" if 0 < widest < small and mean < small else ""
    how = how or ("far from zero" if spread > 0 and mean > max(offset * spread, 1) else "")
    if not how:
        return
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown=severity_unknown(run), learns="info"),
        strength=1.0 if api.is_learning(features) is False else 0.5,
        aspects=(how.split()[0],),
        values={"how": how, "mean": mean, "spread": spread},
        points=(
            api.EvidencePoint("inputs_std_mean", None, spread, 1.0),
            api.EvidencePoint("inputs_mean_abs", None, mean, 0.0),
        ),
    )


def severity_unknown(run: Run) -> api.Severity:
    """The severity where it is unknown whether the run learns: the script may still scale a file."""
    return "info" if run.setup.flag("data_is_raw") else "medium"
