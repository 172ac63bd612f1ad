"""ARC002 deep-without-normalization."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, is_learning, rule, threshold


@rule(
    code="ARC002",
    needs=(
        "setup:depth",
        "setup:has_normalization",
        "objective",
    ),
    min_points=1,
    severity="medium",
    message="{depth:.0f} layers with weights and no normalization among them",
)
def deep_without_normalization(
    run: Run,
    features: Features,
    *,
    deep: float = threshold(10, "layers", "seed", "requirements: more than 10 layers"),
) -> Iterator[Evidence]:
    """A deep net has no normalization, and does not learn.

    ## What it sees
    Ten layers with weights or more, no module that normalizes, and an objective that does not learn. Nothing
    where the run learns, low where that cannot be told.

    ## Why it matters
    In a plain stack each layer scales the signal a little; after ten the product is far from one.

    ## When it is wrong
    Skip connections or a good initialization do the same service and cannot be seen in a count; a net that
    learns is not named.

    ## What to try
    Normalization after each layer, skip connections, He initialization.

    ## Sources
    Ioffe, Szegedy (2015), Batch normalization; He et al. (2016), Deep residual learning; fault catalogue
    rows 30, 31.
    """
    depth = run.setup.number("depth") or 0.0
    if depth < deep or run.setup.flag("has_normalization") is not False:
        return
    learning = is_learning(features)
    if learning:
        return
    yield Evidence(
        severity="medium" if learning is False else "low",
        strength=1.0 if learning is False else 0.5,
        values={"depth": depth},
        points=(EvidencePoint("depth", None, depth, deep, "layers"),),
    )
