"""DAT004 inputs-have-constant-features."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT004",
    needs=(
        "setup:inputs_constant_features",
        "setup:inputs_features",
    ),
    min_points=1,
    severity="info",
    message="{count:.0f} of {all:.0f} input features have the same value in every sample{where}",
)
def inputs_have_constant_features(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.25, "of the features", "measured", "image borders: 5 % (digits) to 15 %"),
    most: float = threshold(0.5, "of the features", "convention", "half of the input has no information"),
) -> Iterator[Evidence]:
    """Some input features never change.

    ## What it sees
    A quarter or more of the features have one value in all samples that were read. Severity is info, low from
    half of the features on (in a table: from one on, which is named), and high if all are constant: the input
    is blank.

    ## Why it matters
    They cannot help, and dividing by their standard deviation of zero gives NaN.

    ## When it is wrong
    Image borders and rare categories are constant in part of the data.

    ## What to try
    Drop them, or add a small constant when standardizing. If all are constant, check the data pipeline.

    ## Sources
    scikit-learn user guide, Removing features with low variance,
    https://scikit-learn.org/stable/modules/feature_selection.html.
    """
    count, total = run.setup.number("inputs_constant_features"), run.setup.number("inputs_features")
    where = run.setup.facts.get("inputs_constant_where")
    if not count or not total or (count < some * total and not where):
        return
    blank, read = count >= total, run.setup.number("inputs_samples_read")
    if not blank and not where and read is not None and read < total:
        raise CannotJudge(f"a rare feature may be constant in {read:.0f} samples")
    yield Evidence(
        severity="high" if blank else "low" if count >= most * total else "info",
        strength=1.0 if blank else 0.5,
        aspects=("all",) if blank else (),
        values={"count": count, "all": total, "where": f": {where}" if where else ""},
        points=(EvidencePoint("inputs_constant_features", None, count, 0.0, "features"),),
    )
