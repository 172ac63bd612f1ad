"""DAT017 features-duplicated."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT017",
    needs=("setup:inputs_duplicate_features", "setup:inputs_features"),
    min_points=1,
    severity="low",
    message="{count:.0f} of {all:.0f} features repeat another one, up to offset and scale: {where}",
)
def features_duplicated(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "features", "theory", "equal in every row, or correlated by 1 - 1e-9"),
) -> Iterator[Evidence]:
    """A feature repeats another one.

    ## What it sees
    Features that are equal in every row, or equal to another one times a factor plus an offset.

    ## Why it matters
    Their common weight is not determined, importances are split between them, and often a join or an
    export has gone wrong.

    ## When it is wrong
    One quantity in two units is harmless for a net with weight decay.

    ## What to try
    Drop one feature of each pair.

    ## Sources
    Hastie, Tibshirani, Friedman (2009), The elements of statistical learning, section 3.4,
    https://hastie.su.domains/ElemStatLearn/.
    """
    count = run.setup.number("inputs_duplicate_features")
    if count is None or count <= any_at_all:
        return
    yield Evidence(
        strength=0.5,
        values={
            "count": count,
            "all": run.setup.number("inputs_features") or 0.0,
            "where": run.setup.facts.get("inputs_duplicate_where") or "not named",
        },
        points=(EvidencePoint("inputs_duplicate_features", None, count, 0.0, "features"),),
    )
