"""LOP002 parameters-missing-from-optimizer."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="LOP002",
    needs=(
        "setup:parameters_without_optimizer",
        "setup:parameters_trainable",
    ),
    min_points=1,
    severity="high",
    message="{what}{names}",
)
def parameters_missing_from_optimizer(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(
        0, "parameters", "theory", "a parameter that requires a gradient should train"
    ),
    nearly: float = threshold(0.999, "of the parameters", "theory", "none of them affects the loss"),
    rows: float = threshold(3, "steps", "convention", "a gradient may come later"),
) -> Iterator[Evidence]:
    """Parameters that should be trained are in no optimizer.

    ## What it sees
    Parameters of the model that require a gradient and that no optimizer holds, or an optimizer none of whose
    parameters ever got a gradient (it holds another model's). Severity is high if the run does not learn,
    medium if that is not known, and low if it learns.

    ## Why it matters
    They stay at their initial values, whatever the loss.

    ## When it is wrong
    Only a head may be trained, on a base that still requires gradients (wasteful, but intended). A second
    optimizer may be used only later.

    ## What to try
    Build the optimizer from model.parameters() after the model is complete, and freeze parameters that
    should not train.

    ## Sources
    Jiang et al. (2025), Training with confidence: catching silent errors in deep learning training,
    https://arxiv.org/abs/2506.14813.
    """
    setup = run.setup
    outside = setup.number("parameters_without_optimizer") or 0.0
    total = setup.number("parameters_trainable") or 0.0
    idle, steps = setup.number("parameters_without_gradient") or 0.0, setup.number("optimizer_steps") or 0.0
    strangers = total > 0 and idle >= nearly * total and steps >= rows
    strangers = strangers and not run.setup.number("steps_after_zeroing")  # then no gradient is left
    if steps < 1:
        raise CannotJudge("no optimizer has made a step")
    if outside <= any_at_all and not strangers:
        return
    part = 1.0 if strangers else min(outside / max(total, 1.0), 1.0)
    listed = setup.known("parameters_without_optimizer_names")
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="low"),
        aspects=("strangers",) if strangers else ("all",) if outside >= nearly * total else ("some",),
        values={
            "what": "the optimizer holds parameters that never get a gradient, so they are not the model's"
            if strangers
            else f"{outside:.0f} of {total:.0f} trainable parameters are in no optimizer",
            "names": f" ({listed})" if listed and not strangers else "",
        },
        points=(api.EvidencePoint("parameters_without_optimizer", None, part * total, 0.0, "parameters"),),
    )
