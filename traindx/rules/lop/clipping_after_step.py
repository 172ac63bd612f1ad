"""LOP010 clipping-after-step."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOP010",
    needs=("setup:clip_after_step",),
    min_points=1,
    severity="medium",
    message="gradients are clipped after the optimizer step, so the clipping has no effect",
)
def clipping_after_step(
    run: Run,
    features: Features,
    *,
    always: float = threshold(0.5, "of the clips", "convention", "a single one may be an exception"),
) -> Iterator[Evidence]:
    """Gradients are clipped after the optimizer step.

    ## What it sees
    Calls of a clipping function between the optimizer step and the next backward pass.

    ## Why it matters
    The clipping has no effect, so spikes of the gradient reach the weights.

    ## When it is wrong
    The call may only measure the norm.

    ## What to try
    Clip between backward and step. With a GradScaler, call `scaler.unscale_(optimizer)` first.

    ## Sources
    PyTorch documentation, clip_grad_norm_,
    https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html.
    """
    flag, count = run.setup.flag("clip_after_step"), run.setup.number("clip_after_step")
    if not (flag if flag is not None else count is not None and count >= always):
        return
    yield Evidence(points=(EvidencePoint("clip_after_step", None, 1.0 if count is None else count, 0.0),))
