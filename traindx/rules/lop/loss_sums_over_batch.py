"""LOP012 loss-sums-over-batch."""

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    by_progress,
    rule,
    threshold,
)


@rule(
    code="LOP012",
    needs=("setup:loss_batch_growth|setup:loss_reduction_seen",),
    min_points=1,
    severity="medium",
    message="twice the batch gives {growth:.2g} times the loss: it is a sum over the batch, not a mean",
)
def loss_sums_over_batch(
    run: Run,
    features: Features,
    *,
    grows: float = threshold(1.5, "x the loss", "theory", "a mean stays (1), a sum doubles (2)"),
    double: float = threshold(2.0, "x the loss", "theory", "a sum over twice as many"),
) -> Iterator[Evidence]:
    """The loss that backward is called on grows with the batch.

    ## What it sees
    The loss of two batches at once beside that of one (traindx check), or the operation of the graph that
    made one number of the loss (traindx run): a sum that is not divided by a number. High where the run does
    not learn, low where that cannot be told, information where it learns.

    ## Why it matters
    The learning rate then means something else for every batch size, and the last, smaller batch of an epoch
    counts less; with 64 samples the step is 64 times as long as intended.

    ## When it is wrong
    Sums are usual in variational models and likelihoods, with a rate that was chosen for them.

    ## What to try
    `reduction="mean"`, or divide by the number of samples.

    ## Sources
    PyTorch documentation, CrossEntropyLoss (reduction); fault catalogue row 52.
    """
    growth, seen = run.setup.number("loss_batch_growth"), run.setup.word("loss_reduction_seen")
    if growth is None and run.setup.known("loss_batch_growth") is not None:
        raise CannotJudge("the loss of a larger batch is not finite")
    if growth is None:
        growth = double if seen == "sum" else 1.0
    if growth < grows:
        return
    yield Evidence(
        severity=by_progress(features, stuck="high", unknown="low", learns="info"),
        values={"growth": growth},
        points=(EvidencePoint("loss_batch_growth", None, growth, 1.0, "x"),),
    )
