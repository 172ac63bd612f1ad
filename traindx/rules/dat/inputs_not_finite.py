"""DAT001 inputs-not-finite."""

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

GIVEN = ("inputs", "targets")  # the parts of a batch


@rule(
    code="DAT001",
    needs=("setup:inputs_nonfinite|setup:nonfinite_first_direction",),
    min_points=1,
    severity="critical",
    message="{count:.0f} input values are not finite",
)
def inputs_not_finite(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "values", "theory", "a single one reaches every weight in one step"),
) -> Iterator[Evidence]:
    """The training inputs contain NaN or infinite values.

    ## What it sees
    The number of non-finite values in the batches that were read, and whether the batch at which the loss
    became non-finite had such inputs or targets. Severity is critical if the run does not learn, high if that
    is not known, and low if it learns (then the values are masked).

    ## Why it matters
    One such value makes the loss NaN, and one step with it makes every weight NaN.

    ## When it is wrong
    The model masks or fills missing values on purpose. Then the run learns.

    ## What to try
    Find the rows (numpy.isnan) and drop or impute them. Look for divisions by a standard deviation of
    zero in the preprocessing.

    ## Sources
    IEEE 754 arithmetic, https://doi.org/10.1109/IEEESTD.2019.8766229.
    """
    count, given = run.setup.number("inputs_nonfinite"), run.setup.word("nonfinite_first_direction")
    if given in GIVEN and not count:
        point = EvidencePoint("nonfinite_first_direction", None, 1.0, 0.0, given)
        message = f"the batch at which the loss became non-finite has {given} that are not finite"
        yield Evidence(severity="critical", message=message, points=(point,), values={"count": 1})
        return
    if count is None or count <= any_at_all:
        return
    yield Evidence(
        severity=progress_severity(features, stuck="critical", unknown="high", learns="low"),
        strength=1.0,
        values={"count": count},
        points=(EvidencePoint("inputs_nonfinite", None, count, 0.0, "values"),),
    )
