"""LOP010 clipping-after-step."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOP010",
    needs=("setup:clip_after_step",),
    min_points=1,
    severity="medium",
    message="gradients are clipped after the optimizer step, which no longer sees it",
)
def clipping_after_step(
    run: Run,
    features: Features,
    *,
    always: float = threshold(0.5, "of the clips", "convention", "once may be an accident"),
) -> Iterator[Evidence]:
    """Gradients are clipped when the step has already been made.

    ## What it sees
    Calls of a clipping function between the optimizer's step and the next backward pass.

    ## Why it matters
    The clip has no effect: spikes go into the weights in full.

    ## When it is wrong
    A call that only measures the norm.

    ## What to try
    Clip between backward and step; with a GradScaler, unscale first.

    ## Sources
    PyTorch documentation, clip_grad_norm_.
    """
    told, count = run.setup.flag("clip_after_step"), run.setup.number("clip_after_step")
    if not (told if told is not None else count is not None and count >= always):
        return
    yield Evidence(points=(EvidencePoint("clip_after_step", None, 1.0 if count is None else count, 0.0),))
