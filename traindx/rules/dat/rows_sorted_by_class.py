"""DAT022 rows-sorted-by-class."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT022",
    needs=("setup:rows_class_purity|setup:rows_target_trend",),
    min_points=1,
    severity="info",
    message="the rows are sorted by their target ({how} {value:.2f}; 0 is mixed, 1 is sorted)",
)
def rows_sorted_by_class(
    run: Run,
    features: Features,
    *,
    purity: float = threshold(0.3, "0..1", "measured", "mixed: within 0.02 of 0; sorted: 0.6 and more"),
    trend: float = threshold(
        0.5, "rank correlation", "convention", "half of the order is that of the target"
    ),
) -> Iterator[Evidence]:
    """The rows of the data are sorted by class, or by the value of the target.

    ## What it sees
    How much more often neighboring rows share their class than by chance, or the rank correlation of a
    real-valued target with the row number. Severity is info, because a loader that shuffles corrects it. It
    is medium if shuffling is known to be off.

    ## Why it matters
    Without shuffling the model follows the class it saw last. A split by position leaves whole classes
    out of training.

    ## When it is wrong
    Many public data sets are stored like this and shuffled when they are loaded.

    ## What to try
    Use `DataLoader(shuffle=True)` and a random, stratified split.

    ## Sources
    Bottou (2012), Stochastic gradient descent tricks, https://doi.org/10.1007/978-3-642-35289-8_25.
    """
    setup = run.setup
    pure, along = setup.number("rows_class_purity"), setup.number("rows_target_trend")
    by_class = pure is not None and pure >= purity
    by_value = along is not None and abs(along) >= trend
    if not (by_class or by_value):
        return
    value = (pure if by_class else along) or 0.0
    fixed = setup.flag("shuffle") is False
    yield Evidence(
        severity="medium" if fixed else "info",
        strength=1.0 if fixed else 0.5,
        aspects=("unshuffled",) if fixed else (),
        values={"how": "purity" if by_class else "rank correlation", "value": abs(value)},
        points=(
            EvidencePoint(
                "rows_class_purity" if by_class else "rows_target_trend", None, value, 0.0, "0..1"
            ),
        ),
    )
