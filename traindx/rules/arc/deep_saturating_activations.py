"""ARC003 deep-saturating-activations."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, is_learning, rule, threshold


@rule(
    code="ARC003",
    needs=(
        "setup:depth",
        "setup:activations",
        "objective",
    ),
    min_points=1,
    severity="medium",
    message="{depth:.0f} layers with weights have only {kinds} between them",
)
def deep_saturating_activations(
    run: Run,
    features: Features,
    *,
    deep: float = threshold(
        5, "layers", "theory", "a sigmoid keeps at most a quarter of the gradient: 1/256 after four"
    ),
) -> Iterator[Evidence]:
    """Many layers have sigmoid, tanh or softmax between them, in a model that does not learn.

    ## What it sees
    Five or more layers with weights (three where softmax is the only activation), no rectifier among the
    activations, no normalization, and an objective that does not improve. Severity is medium, and low if it
    is not known whether the run learns. A run that learns is not reported.

    ## Why it matters
    The derivative of these functions is below 1 almost everywhere, so every layer makes the gradient
    smaller.

    ## When it is wrong
    Gates of recurrent networks need these functions. With a good initialization, tanh works at moderate
    depth.

    ## What to try
    Use ReLU or GELU with He initialization, normalization, or skip connections.

    ## Sources
    Glorot, Bengio (2010), https://proceedings.mlr.press/v9/glorot10a.html.
    """
    depth, kinds = run.setup.number("depth") or 0.0, run.setup.word("activations")
    used = {word.strip() for word in kinds.split(",") if word.strip()}
    flat = {"sigmoid", "tanh", "softsign", "hardsigmoid", "hardtanh", "logsigmoid", "softmax"}
    least = deep - 2 if used == {"softmax"} else deep
    if not used or used - flat or depth < least or run.setup.flag("has_normalization"):
        return
    learning = is_learning(features)
    if learning:
        return
    yield Evidence(
        severity="medium" if learning is False else "low",
        strength=1.0 if learning is False else 0.5,
        values={"depth": depth, "kinds": ", ".join(sorted(used))},
        points=(EvidencePoint("depth", None, depth, least, "layers"),),
    )
