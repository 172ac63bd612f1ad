"""DST004 ranks-see-same-data."""

from traindx.features.performance.processes import DATA_PARALLEL, apart, by_rank
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DST004",
    needs=("rank/*", "setup:wrapper"),
    min_points=1,
    severity="medium",
    message="the {ranks} processes have the very same loss at {share:.0%} of the steps: they read the same samples",
)
def ranks_see_same_data(
    run: Run,
    features: Features,
    *,
    often: float = threshold(0.95, "of the steps", "theory", "other samples never give the same bits"),
    least: float = threshold(10, "steps", "convention", "compared"),
) -> Iterator[Evidence]:
    """Every process of a data-parallel training reads the same batches.

    ## What it sees
    The loss that each rank's own backward pass begins from, at the steps that all recorded: equal to the
    last bit at nineteen of twenty. Judged under DistributedDataParallel and FSDP, whose processes are meant
    to have samples of their own.

    ## Why it matters
    N processes do N times the work for what one would learn; the batch is not N times as large, and an epoch
    passes over the data N times.

    ## When it is wrong
    Losses that were averaged over the ranks before the backward pass. Dropout that draws other units on each
    rank hides it.

    ## What to try
    A `DistributedSampler` (and its `set_epoch`), or `split_dataset_by_node`; for streams, a shard by rank.

    ## Sources
    PyTorch documentation, DistributedSampler.
    """
    if run.setup.word("wrapper").lower() not in DATA_PARALLEL:
        raise CannotJudge("the processes are not known to train on data of their own")
    losses = by_rank(features, "train/loss")
    if losses is None or len(losses.steps) < least:
        raise CannotJudge(
            f"needs the training loss of two ranks at {least:.0f} steps, which were not recorded"
        )
    share = float((apart(losses.values) == 0).mean())
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
