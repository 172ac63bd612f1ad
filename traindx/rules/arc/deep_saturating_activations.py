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
    message="{depth:.0f} layers with weights and only {kinds} between them",
)
def deep_saturating_activations(
    run: Run,
    features: Features,
    *,
    deep: float = threshold(
        5, "layers", "theory", "a sigmoid keeps at most a quarter of the gradient: 1/256 after four"
    ),
) -> Iterator[Evidence]:
    """Many layers with sigmoid, tanh or softmax between them, in a net that does not learn.

    ## What it sees
    Five layers with weights or more (three where softmax is the only activation), no rectifier or its kin
    among the activations, no normalization, and an objective that does not learn. Nothing where the run
    learns, low where that cannot be told.

    ## Why it matters
    The derivative of these functions is below 1 nearly everywhere, so every layer takes away from the
    gradient.

    ## When it is wrong
    Gates of recurrent nets; tanh with a good initialization carries for a while; a net that learns is not
    named.

    ## What to try
    ReLU or GELU with He initialization; normalization; skip connections.

    ## Sources
    Glorot, Bengio (2010); Hochreiter (1991); fault catalogue rows 30, 44.
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
