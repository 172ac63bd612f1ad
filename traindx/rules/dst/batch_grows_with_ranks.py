"""DST006 batch-grows-with-ranks."""

import math

from traindx.features.performance.processes import (
    DATA_PARALLEL,
    exchanged_mean,
    is_scale_free,
    ranks_of,
    series_by_rank,
    spread_over_ranks,
)
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="DST006",
    needs=("rank/*", "setup:world_size", "setup:batch_size|batch_size", "lr|setup:lr"),
    min_points=1,
    severity="info",
    message="{ranks} processes with {own:g} samples each make a batch of {whole:g}: multiply a rate tuned "
    "on one process by {scale:.3g} ({law}); it is {rate:.3g} now",
)
def batch_grows_with_ranks(
    run: Run,
    features: Features,
    *,
    least: float = threshold(2, "processes", "theory", "one process has the whole batch"),
    alike: float = threshold(0.95, "of the steps", "theory", "as in ranks-see-same-data"),
) -> Iterator[Evidence]:
    """The batch of data-parallel training grows with the number of processes.

    ## What it sees
    Processes that train one model on different samples (DistributedDataParallel, FSDP, or gradients that are
    observed to be averaged), the samples of each in a step, and the learning rate. This is advice, not a
    fault: the record does not show whether the rate was chosen for the whole batch.

    ## Why it matters
    The mean over N times the samples has 1/N of the noise, and an epoch has N times fewer steps. With
    the rate for one process, training is slower than it could be.

    ## When it is wrong
    Beyond the batch size at which noise no longer matters (`grad_noise_scale`), a larger rate does not help.

    ## What to try
    With SGD multiply the rate by N, with a warm-up of some epochs. With Adam and similar optimizers
    multiply it by the square root of N.

    ## Sources
    Goyal et al. (2017), https://arxiv.org/abs/1706.02677; Malladi et al. (2022),
    https://arxiv.org/abs/2205.10287; McCandlish et al. (2018), https://arxiv.org/abs/1812.06162.
    """
    setup, ranks = run.setup, int(run.setup.number("world_size") or 0)
    if ranks < least or len(ranks_of(run)) != ranks:
        raise CannotJudge("not all processes were recorded")
    if setup.word("wrapper") not in DATA_PARALLEL and exchanged_mean(features) is None:
        raise CannotJudge("the processes are not known to train on different data")
    losses = series_by_rank(features, "train/loss")
    if (
        losses is not None
        and len(losses.steps)
        and float((spread_over_ranks(losses.values) == 0).mean()) >= alike
    ):
        return  # they read the same samples, so the batch does not grow
    sizes, rates = features.curve("batch_size"), features.curve("lr")
    own = float(api.median(sizes.values)) if sizes is not None and sizes.n else setup.number("batch_size")
    rate = float(rates.values.max()) if rates is not None and rates.n else setup.number("lr")
    if not own or rate is None:
        raise CannotJudge("the batch size or the learning rate is not known")
    scale, law = float(ranks), "in proportion, for SGD"
    if is_scale_free(run):
        scale, law = math.sqrt(ranks), f"the square root, for {setup.word('optimizer')}"
    yield Evidence(
        last=run.last_step,
        values={"ranks": ranks, "own": own, "whole": ranks * own, "scale": scale, "law": law, "rate": rate},
        points=(api.EvidencePoint("lr", run.last_step, rate, None, ""),),
    )
