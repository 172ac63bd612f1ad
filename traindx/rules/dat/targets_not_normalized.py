"""DAT005 targets-not-normalized."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, rule, threshold


@rule(
    code="DAT005",
    needs=("setup:targets_std_max",),
    min_points=1,
    severity="medium",
    message="the regression targets have mean {mean:.3g} and standard deviation {spread:.3g}",
)
def targets_not_normalized(
    run: Run,
    features: Features,
    *,
    large: float = threshold(10.0, "mean or spread", "convention", "ten times the intended scale"),
    small: float = threshold(0.01, "spread", "convention", "a hundredth of the scale of the outputs"),
) -> Iterator[Evidence]:
    """The targets of a regression are in raw units.

    ## What it sees
    Real-valued targets (not 0 and 1) whose mean or standard deviation is above 10, or whose standard
    deviation is below 0.01. Severity is high if the run does not learn, medium if that is not known, and info
    if it learns. It is also info if only a file was read, because the script may scale it later.

    ## Why it matters
    The first loss is the mean square of the targets, with an equally large gradient: the first steps
    ruin the weights, or the model spends its time learning the offset.

    ## When it is wrong
    A head that rescales, or a bias set to the mean, compensates for it. Then the run learns.

    ## What to try
    Standardize the targets with the mean and standard deviation of the training data, and undo that for
    the predictions.

    ## Sources
    Bishop (1995), Neural networks for pattern recognition, chapter 8; scikit-learn,
    TransformedTargetRegressor, https://scikit-learn.org/stable/modules/compose.html.
    """
    setup = run.setup
    spread, mean = setup.number("targets_std_max") or 0.0, setup.number("targets_mean_abs") or 0.0
    if setup.flag("targets_binary"):
        return
    big, tiny = max(spread, mean) > large, 0 < spread < small
    if not (big or tiny):
        return
    yield Evidence(
        severity=api.progress_severity(
            features, stuck="high", unknown="info" if setup.flag("data_is_raw") else "medium", learns="info"
        ),
        strength=1.0 if api.is_learning(features) is False else 0.5,
        aspects=("large",) if big else ("tiny",),
        values={"mean": mean, "spread": spread},
        points=(
            EvidencePoint("targets_std_max", None, spread, 1.0),
            EvidencePoint("targets_mean_abs", None, mean, 0.0),
        ),
    )
