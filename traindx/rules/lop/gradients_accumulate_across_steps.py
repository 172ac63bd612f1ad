"""LOP001 gradients-accumulate-across-steps."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="LOP001",
    needs=(
        "setup:zero_grad_missing_steps",
        "setup:zero_grad_checked_steps",
    ),
    min_points=1,
    severity="high",
    message="in {share:.0%} of the steps, backward began with the gradients of the previous step",
)
def gradients_accumulate_across_steps(
    run: Run,
    features: Features,
    *,
    share: float = threshold(0.5, "of the steps", "convention", "an occasional one may be intended"),
    least: float = threshold(3, "steps", "convention", "the first steps do not count"),
) -> Iterator[Evidence]:
    """Gradients are not cleared between optimizer steps.

    ## What it sees
    Steps whose first backward pass found gradients that were not zero. Severity is critical if the run does
    not learn, high if that is not known, and medium if it learns, as it may with a small rate.

    ## Why it matters
    Every step then follows the sum of all gradients so far, like momentum without decay: the loss
    oscillates and diverges.

    ## When it is wrong
    An optimizer or a framework may keep a running gradient on purpose. Gradient accumulation over
    micro-batches is not reported, because its first pass starts at zero.

    ## What to try
    Call optimizer.zero_grad() once per step, before backward.

    ## Sources
    PyTorch tutorial, Optimizing model parameters,
    https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html.
    """
    missing = run.setup.number("zero_grad_missing_steps") or 0.0
    checked = run.setup.number("zero_grad_checked_steps") or 0.0
    if checked < least:
        raise CannotJudge("too few steps were recorded")
    if missing < share * checked:
        return
    yield Evidence(
        severity=api.progress_severity(features, stuck="critical", unknown="high", learns="medium"),
        aspects=("always",) if missing >= checked else ("often",),
        values={"share": missing / checked},
        points=(api.EvidencePoint("zero_grad_missing_steps", None, missing, 0.0, "steps"),),
    )
