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
    message="{depth:.0f} layers with weights have no normalization between them",
)
def deep_without_normalization(
    run: Run,
    features: Features,
    *,
    deep: float = threshold(10, "layers", "convention", "plain nets of this depth rarely train"),
) -> Iterator[Evidence]:
    """A deep model has no normalization and does not learn.

    ## What it sees
    Ten or more layers with weights, no normalization layer, and an objective that does not improve. Severity
    is medium, and low if it is not known whether the run learns. A run that learns is not reported.

    ## Why it matters
    In a plain stack each layer scales the signal a little. After ten layers the product is far from one.

    ## When it is wrong
    Skip connections or a good initialization have the same effect, but a count of layers does not show them.

    ## What to try
    Add normalization after each layer, skip connections, or He initialization.

    ## Sources
    Ioffe, Szegedy (2015), Batch normalization, https://arxiv.org/abs/1502.03167; He et al. (2016), Deep
    residual learning, https://arxiv.org/abs/1512.03385.
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
