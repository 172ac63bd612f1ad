"""DAT006 targets-out-of-range."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT006",
    needs=("setup:label_min|setup:targets_min",),
    min_points=1,
    severity="high",
    message="{what}",
)
def targets_out_of_range(
    run: Run,
    features: Features,
    *,
    masked: float = threshold(1.0, "of the labels", "theory", "nothing is left to learn from"),
    unit: float = threshold(1.0, "target", "theory", "binary cross-entropy is defined on 0..1"),
) -> Iterator[Evidence]:
    """Targets lie outside of what the loss is defined on.

    ## What it sees
    Class numbers as large as the number of outputs or larger, or negative ones where nothing is ignored;
    targets of a binary cross-entropy outside of 0..1; labels that are all negative (masked).

    ## Why it matters
    The loss is then no likelihood: it falls without limit, or means nothing, or is an average over no
    samples.

    ## When it is wrong
    An ignore index other than -100 looks like a negative label; part of the labels may be masked on purpose.

    ## What to try
    Print the range of the labels; start at 0; scale targets to 0..1; look at how the mask is made.

    ## Sources
    PyTorch, documentation of cross_entropy (ignore_index) and binary_cross_entropy_with_logits.
    """
    setup = run.setup
    loss, width = setup.word("loss_name") or setup.word("loss"), setup.number("outputs_width")
    low, high = setup.number("label_min"), setup.number("label_max")
    if "binary" in loss:
        low, high = (
            (setup.number("targets_min"), setup.number("targets_max")) if low is None else (low, high)
        )
        wrong = low is not None and high is not None and (low < 0 or high > unit)
        what, aspect = f"targets of a binary cross-entropy reach from {low} to {high}", "not-a-probability"
    else:
        hidden = setup.number("label_negative_share")
        classed = "cross_entropy" in loss or "nll" in loss
        empty = hidden is not None and hidden >= masked
        beyond = classed and width is not None and width > 1 and high is not None and high >= width
        wrong = empty or beyond
        what = (
            "all labels are negative: every one is masked"
            if empty
            else f"labels reach {high}, outputs are {width}"
        )
        aspect = "all-masked" if empty else "beyond-outputs"
    if not wrong:
        return
    yield Evidence(
        aspects=(aspect,),
        values={"what": what},
        points=(EvidencePoint("label_max", None, float("nan") if high is None else high, width),),
    )
