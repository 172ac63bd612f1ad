"""DAT006 targets-out-of-range."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT006",
    needs=("setup:label_min|setup:targets_min|setup:loss_target_shape",),
    min_points=1,
    severity="high",
    message="{what}",
)
def targets_out_of_range(
    run: Run,
    features: Features,
    *,
    masked: float = threshold(1.0, "of the labels", "theory", "no label remains to learn from"),
    unit: float = threshold(1.0, "target", "theory", "binary cross-entropy is defined on 0..1"),
) -> Iterator[Evidence]:
    """Targets are outside of the range that the loss is defined for.

    ## What it sees
    Class indices that are not below the number of outputs. Targets of a binary cross-entropy outside of 0 to
    1. Labels that are all negative, which means masked, or none at all, as an index that selects nothing leaves.

    ## Why it matters
    The loss then falls without limit, has no meaning, or is a mean over no samples.

    ## When it is wrong
    An ignore index other than -100 looks like a negative label. Part of the labels may be masked on
    purpose.

    ## What to try
    Print the range of the labels. Start at 0, scale targets to 0..1, and check how the mask is made.

    ## Sources
    PyTorch documentation, CrossEntropyLoss (ignore_index),
    https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html.
    """
    setup = run.setup
    loss = setup.word("loss_name") or setup.word("loss")
    # Records of older versions have the number of positions as the width of (batch, classes, positions).
    width = max(setup.number("outputs_width") or 0.0, setup.number("classes") or 0.0)
    low, high = setup.number("label_min"), setup.number("label_max")
    if "binary" in loss:
        if low is None:
            low, high = setup.number("targets_min"), setup.number("targets_max")
        wrong = low is not None and high is not None and (low < 0 or high > unit)
        what, aspect = f"targets of a binary cross-entropy range from {low} to {high}", "not-a-probability"
    else:
        hidden = setup.number("label_negative_share")
        classed = "cross_entropy" in loss or "nll" in loss
        none = "0" in setup.word("loss_target_shape").split("x")
        empty = none or (hidden is not None and hidden >= masked)
        beyond = classed and width > 1 and high is not None and high >= width
        wrong = empty or beyond
        what = (
            "the loss is a mean over no samples: its targets are empty"
            if none
            else "all labels are negative, so every one is masked"
            if empty
            else f"labels go up to {high}, but there are {width:g} outputs"
        )
        aspect = "all-masked" if empty else "beyond-outputs"
    if not wrong:
        return
    yield Evidence(
        aspects=(aspect,),
        values={"what": what},
        points=(EvidencePoint("label_max", None, float("nan") if high is None else high, width),),
    )
