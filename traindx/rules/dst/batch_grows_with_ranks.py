"""DST006 batch-grows-with-ranks."""

import math

from traindx.features.performance.processes import (
    DATA_PARALLEL,
    apart,
    by_rank,
    exchanged,
    is_scale_free,
    ranks_of,
)
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    rule,
    threshold,
)


@rule(
    code="DST006",
    needs=("rank/*", "setup:world_size", "setup:batch_size|batch_size", "lr|setup:lr"),
    min_points=1,
    severity="info",
    message="{ranks} processes with {own:g} samples each make a batch of {whole:g}: a rate that was found with one "
    "process goes with {scale:.3g} times as much ({law}); it is {rate:.3g}",
)
def batch_grows_with_ranks(
    run: Run,
    features: Features,
    *,
    least: float = threshold(2, "processes", "theory", "one has no other's samples"),
    alike: float = threshold(0.95, "of the steps", "theory", "as ranks-see-same-data"),
) -> Iterator[Evidence]:
    """The batch of a data-parallel training is as many times as large as there are processes.

    ## What it sees
    Processes that train one model on samples of their own (DistributedDataParallel, FSDP, or gradients that
    are seen to be averaged), the samples of each in a step, and the rate. Advice with its numbers, never a
    fault: whether the rate was chosen for the whole batch cannot be seen.

    ## Why it matters
    A mean over N times the samples has an Nth of the noise, and there are N times fewer steps in an epoch.
    With the rate of one process the training is slower by as much as it could have been faster.

    ## When it is wrong
    Beyond the batch at which noise ends to matter a larger rate does not help (`grad_noise_scale`).

    ## What to try
    SGD: N times the rate, and a warm-up of some epochs; Adam and its kin: the square root of N times.

    ## Sources
    Goyal et al. (2017), Accurate, large minibatch SGD; Malladi et al. (2022), On the SDEs and scaling rules
    for adaptive gradient algorithms; McCandlish et al. (2018), An empirical model of large-batch training.
    """
    setup, ranks = run.setup, int(run.setup.number("world_size") or 0)
    if ranks < least or len(ranks_of(run)) != ranks:
        raise CannotJudge("not all processes are in the record")
    if setup.word("wrapper") not in DATA_PARALLEL and exchanged(features) is None:
        raise CannotJudge("the processes are not known to train on data of their own")
    losses = by_rank(features, "train/loss")
    if losses is not None and len(losses.steps) and float((apart(losses.values) == 0).mean()) >= alike:
        return  # they read the same samples: the batch is that of one
    sizes, rates = features.curve("batch_size"), features.curve("lr")
    own = float(median(sizes.values)) if sizes is not None and sizes.n else setup.number("batch_size")
    rate = float(rates.values.max()) if rates is not None and rates.n else setup.number("lr")
    if not own or rate is None:
        raise CannotJudge("the samples of a step or the rate are not known")
    scale, law = float(ranks), "in proportion, for SGD"
    if is_scale_free(run):
        scale, law = math.sqrt(ranks), f"the square root, for {setup.word('optimizer')}"
    yield Evidence(
        last=run.last_step,
        values={"ranks": ranks, "own": own, "whole": ranks * own, "scale": scale, "law": law, "rate": rate},
        points=(EvidencePoint("lr", run.last_step, rate, None, ""),),
    )
