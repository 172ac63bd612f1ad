"""ARC006 loss-does-not-fit-targets."""

from traindx.rules.api import Evidence, Features, Iterator, Run, Severity, api, rule, threshold


@rule(
    code="ARC006",
    needs=(
        "setup:loss_name|setup:loss|setup:loss_broadcasts",
        "setup:loss_target_shape|setup:label_dtype|setup:outputs_width",
    ),
    min_points=1,
    severity="high",
    message="{what}",
)
def loss_does_not_fit_targets(
    run: Run,
    features: Features,
    *,
    one: float = threshold(1.0, "output", "theory", "the softmax over a single logit is always 1"),
) -> Iterator[Evidence]:
    """The loss function does not fit these targets.

    ## What it sees
    - A squared or absolute error between shapes that match only by broadcasting (also in custom losses).
    - A cross-entropy over a single output.
    - A squared error on class indices, or on one-hot classes over several outputs.

    The first two are certain, and their severity is high. The third is medium if the run does not learn, and
    low otherwise.

    ## Why it matters
    Minimizing such a loss does not make the model good. A broadcast difference compares every output
    with every target.

    ## When it is wrong
    A squared error is right for ratings and counts, which are whole numbers, and for reconstructing
    black-and-white images.

    ## What to try
    Use cross-entropy for classes, and targets with the shape of the outputs for regression (squeeze or
    unsqueeze one of them).

    ## Sources
    PyTorch documentation, MSELoss, https://docs.pytorch.org/docs/stable/generated/torch.nn.MSELoss.html.
    """
    setup = run.setup
    loss = setup.word("loss_name") or setup.word("loss")
    given, wanted = setup.word("loss_input_shape"), setup.word("loss_target_shape")
    squared = any(word in loss for word in ("mse", "l1_loss", "huber"))
    width = setup.number("outputs_width")
    scores = classes_of(given) if given else width
    severity: Severity = "medium" if api.is_learning(features) is False else "low"
    if squared and given and wanted and given != wanted and broadcast(given, wanted):
        what, aspect = f"{loss} compares outputs of {given} with targets of {wanted}", "broadcast"
        severity = "high"
    elif setup.word("loss_broadcasts"):
        what, aspect = f"a difference in the loss turns {setup.word('loss_broadcasts')}", "broadcast"
        severity = "high"
    elif "cross_entropy" in loss and "binary" not in loss and scores is not None and scores <= one:
        what, aspect, severity = f"{loss} over a single output is always 0", "single-output", "high"
    elif squared and (setup.number("classes") or 0) > one and setup.number("classes_seen") is not None:
        what, aspect = f"{loss} on class indices", "class-numbers"
    elif squared and "int" in setup.word("label_dtype") and setup.number("classes_seen") is not None:
        what, aspect = f"{loss} on whole numbers, such as class indices", "class-numbers"
    elif squared and setup.flag("targets_binary") and width is not None and width > one:
        what, aspect = f"{loss} on one-hot classes", "zeros-and-ones"
    else:
        return
    yield Evidence(
        severity=severity,
        strength=1.0 if severity == "high" else 0.5,
        aspects=(aspect,),
        values={"what": what},
        points=(api.EvidencePoint("outputs_width", None, width or one),),
    )


def classes_of(given: str) -> float | None:
    """The number of outputs per sample for the shape "64x10": its second dimension, or the only one."""
    sizes = [size for size in given.split("x") if size.isdigit()]
    return float(sizes[min(1, len(sizes) - 1)]) if sizes else None


def broadcast(given: str, wanted: str) -> bool:
    """Whether two shapes such as "64x1" differ in their number of dimensions, or in a dimension of 1."""
    first, second = given.split("x"), wanted.split("x")
    return "scalar" not in (given, wanted) and (len(first) != len(second) or "1" in (*first, *second))
