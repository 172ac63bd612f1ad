"""DAT001 inputs-not-finite."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, by_progress, rule, threshold

GIVEN = ("inputs", "targets")  # what a batch is made of


@rule(
    code="DAT001",
    needs=("setup:inputs_nonfinite|setup:nonfinite_first_direction",),
    min_points=1,
    severity="critical",
    message="{count:.0f} values of the inputs are not finite",
)
def inputs_not_finite(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "values", "theory", "a single one reaches every weight in one step"),
) -> Iterator[Evidence]:
    """The training inputs hold NaN or infinite values.

    ## What it sees
    The count of values that are not finite in the batches that were looked at, and whether the batch at
    which the loss broke was given such inputs or targets. Critical where the run does not learn, high where
    that cannot be told, low where it learns all the same (the values are masked).

    ## Why it matters
    One such value makes the loss NaN, and one step with it makes every weight NaN.

    ## When it is wrong
    Missing values that the model masks or fills on purpose; then the run learns.

    ## What to try
    Find the rows (numpy.isnan), drop or impute them; look for divisions by a spread of zero in the
    preprocessing.

    ## Sources
    IEEE 754 arithmetic; fault catalogue row 69.
    """
    count, given = run.setup.number("inputs_nonfinite"), run.setup.word("nonfinite_first_direction")
    if given in GIVEN and not count:
        point = EvidencePoint("nonfinite_first_direction", None, 1.0, 0.0, given)
        message = f"the batch at which the loss broke holds {given} that are not finite"
        yield Evidence(severity="critical", message=message, points=(point,), values={"count": 1})
        return
    if count is None or count <= any_at_all:
        return
    yield Evidence(
        severity=by_progress(features, stuck="critical", unknown="high", learns="low"),
        strength=1.0,
        values={"count": count},
        points=(EvidencePoint("inputs_nonfinite", None, count, 0.0, "values"),),
    )
