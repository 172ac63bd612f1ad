"""DST004 ranks-see-same-data."""

from traindx.features.performance.processes import DATA_PARALLEL, series_by_rank, spread_over_ranks
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DST004",
    needs=("rank/*", "setup:wrapper"),
    min_points=1,
    severity="medium",
    message="the {ranks} processes have exactly the same loss at {share:.0%} of the steps, so they "
    "read the same samples",
)
def ranks_see_same_data(
    run: Run,
    features: Features,
    *,
    often: float = threshold(0.95, "of the steps", "theory", "different samples never give equal bits"),
    least: float = threshold(10, "steps", "convention", "compared"),
) -> Iterator[Evidence]:
    """Every process of data-parallel training reads the same batches.

    ## What it sees
    The loss from which the backward pass of each rank starts, at the steps that all recorded: equal in every
    bit at nineteen of twenty. It is judged for DistributedDataParallel and FSDP, whose processes should have
    different samples.

    ## Why it matters
    N processes do N times the work of one for the same result. The batch is not N times as large, and an
    epoch passes over the data N times.

    ## When it is wrong
    The losses may have been averaged over the ranks before the backward pass. Dropout that draws different
    units on each rank hides the fault.

    ## What to try
    Use a `DistributedSampler` (and its `set_epoch`) or `split_dataset_by_node`; for streams, one shard
    per rank.

    ## Sources
    PyTorch documentation, DistributedSampler, https://docs.pytorch.org/docs/stable/data.html.
    """
    if run.setup.word("wrapper").lower() not in DATA_PARALLEL:
        raise CannotJudge("the processes are not known to train on different data")
    losses = series_by_rank(features, "train/loss")
    if losses is None or len(losses.steps) < least:
        raise CannotJudge(
            f"needs the training loss of two ranks at {least:.0f} steps, which were not recorded"
        )
    share = float((spread_over_ranks(losses.values) == 0).mean())
    if share < often:
        return
    last = float(losses.steps[-1])
    yield Evidence(
        onset=float(losses.steps[0]),
        last=last,
        values={"ranks": len(losses.ranks), "share": share},
        points=(
            EvidencePoint(
                "train/loss", last, float(losses.values[1, -1]), float(losses.values[0, -1]), "loss"
            ),
        ),
    )
