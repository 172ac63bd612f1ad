"""DAT016 values-missing."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT016",
    needs=("setup:inputs_missing",),
    min_points=1,
    severity="medium",
    message="{what}",
)
def values_missing(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "cells", "theory", "an empty cell becomes NaN"),
    most: float = threshold(0.5, "of a feature", "convention", "most filled-in values are then invented"),
) -> Iterator[Evidence]:
    """Cells of the table are empty, or contain no number where the others do.

    ## What it sees
    Empty cells (also NA, null, ?), words among numbers, rows with another number of cells, and samples
    without a target. Severity is high if a target is missing or a feature is mostly empty.

    ## Why it matters
    An empty cell becomes NaN, and NaN in one sample is NaN in every weight after one step.

    ## When it is wrong
    The script may fill or mask them. Then check what it fills in.

    ## What to try
    Drop the rows or the feature, or fill in the median and add a column that marks it.

    ## Sources
    Little, Rubin (2019), Statistical analysis with missing data, https://doi.org/10.1002/9781119482260.
    """
    setup = run.setup
    cells, odd = setup.number("inputs_missing") or 0.0, setup.number("inputs_inconvertible") or 0.0
    targets, ragged = setup.number("targets_missing") or 0.0, setup.number("rows_malformed") or 0.0
    if max(cells, odd, targets, ragged) <= any_at_all:
        return
    worst = setup.number("inputs_missing_worst_share") or 0.0
    where = setup.facts.get("inputs_missing_where") or "not named"
    problems = (
        (targets, f"{targets:.0f} samples have no target"),
        (cells, f"{cells:.0f} cells are empty, up to {worst:.2%} of a feature ({where})"),
        (odd, f"{odd:.0f} cells have words among numbers"),
        (ragged, f"{ragged:.0f} rows have another number of cells and were skipped"),
    )
    yield Evidence(
        severity="high" if targets > any_at_all or worst > most else "medium",
        aspects=(*("targets",) * (targets > any_at_all), *("most-of-a-feature",) * (worst > most)),
        values={"what": "; ".join(words for count, words in problems if count > any_at_all)},
        points=(
            EvidencePoint("inputs_missing", None, cells, 0.0, "cells"),
            EvidencePoint("targets_missing", None, targets, 0.0, "samples"),
        ),
    )
