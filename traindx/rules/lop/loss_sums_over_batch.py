"""LOP012 loss-sums-over-batch."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="LOP012",
    needs=("setup:loss_batch_growth|setup:loss_reduction_seen",),
    min_points=1,
    severity="medium",
    message="doubling the batch multiplies the loss by {growth:.2g}: it is a sum over the batch, not a mean",
)
def loss_sums_over_batch(
    run: Run,
    features: Features,
    *,
    grows: float = threshold(1.5, "x the loss", "theory", "a mean is constant (1), a sum doubles (2)"),
    double: float = threshold(2.0, "x the loss", "theory", "a sum over twice as many samples"),
) -> Iterator[Evidence]:
    """The loss passed to backward grows with the batch.

    ## What it sees
    The loss of two batches together compared with that of one (`traindx check`), or the operation in the
    graph that reduces the loss to one number (`traindx run`): a sum that is not divided. Severity is high if
    the run does not learn, low if that is not known, and info if it learns.

    ## Why it matters
    The learning rate then has another effect for every batch size, and the last, smaller batch of an
    epoch counts less. With 64 samples the step is 64 times as large as intended.

    ## When it is wrong
    Sums are usual in variational models and likelihoods, with a rate that was chosen for them.

    ## What to try
    Use `reduction="mean"`, or divide by the number of samples.

    ## Sources
    PyTorch documentation, CrossEntropyLoss (reduction),
    https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html.
    """
    growth, seen = run.setup.number("loss_batch_growth"), run.setup.word("loss_reduction_seen")
    if growth is None and run.setup.known("loss_batch_growth") is not None:
        raise CannotJudge("the loss of a larger batch is not finite")
    if growth is None:
        growth = double if seen == "sum" else 1.0
    if growth < grows:
        return
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown="low", learns="info"),
        values={"growth": growth},
        points=(api.EvidencePoint("loss_batch_growth", None, growth, 1.0, "x"),),
    )
