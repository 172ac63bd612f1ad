"""LOP008 loss-not-scaled-for-accumulation."""

from traindx.rules.api import (
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    progress_severity,
    rule,
    threshold,
)


@rule(
    code="LOP008",
    needs=(
        "setup:accumulation",
        "setup:accumulation_loss_scaled",
    ),
    min_points=1,
    severity="medium",
    message="gradients of {count:.0f} batches are summed per step, and the loss is not divided by "
    "{count:.0f}",
)
def loss_not_scaled_for_accumulation(
    run: Run,
    features: Features,
    *,
    several: float = threshold(1.5, "passes a step", "theory", "one pass needs no scaling"),
) -> Iterator[Evidence]:
    """Gradients of several batches are summed instead of averaged.

    ## What it sees
    Several backward passes of the same line per step, with a loss that was not divided by their number.
    Severity is high if the run does not learn, medium if that is not known, and low if it learns.

    ## Why it matters
    With n backward passes the step is n times as large as the learning rate suggests.

    ## When it is wrong
    The learning rate may have been chosen for the sum. A loss that is a sum over tokens may be divided
    elsewhere.

    ## What to try
    Divide the loss by the number of micro-batches before backward.

    ## Sources
    Hugging Face (2024), Fixing gradient accumulation, https://huggingface.co/blog/gradient_accumulation.
    """
    count, scaled = run.setup.number("accumulation"), run.setup.flag("accumulation_loss_scaled")
    if count is None or count < several or scaled is not False:
        return
    yield Evidence(
        severity=progress_severity(features, stuck="high", unknown="medium", learns="low"),
        values={"count": count},
        points=(EvidencePoint("accumulation", None, count, 1.0, "passes"),),
    )
