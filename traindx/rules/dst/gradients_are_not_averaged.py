"""DST005 gradients-are-not-averaged."""

from traindx.features.performance.processes import exchanged, is_scale_free
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    np,
    rule,
    threshold,
)

WAYS = {
    "summed": ": they are summed up, not averaged",
    "divided": ": they are divided by the number of processes twice",
    "other": "",
}


@rule(
    code="DST005",
    needs=("rank/*", "exchange/own", "exchange/used", "setup:world_size"),
    min_points=1,
    severity="medium",
    message="steps use {ratio:.3g} times the mean of the gradients of the {ranks} processes{how}",
)
def gradients_are_not_averaged(
    run: Run,
    features: Features,
    *,
    near: float = threshold(0.1, "of the ratio", "convention", "a mean weighted by samples; compression"),
    off: float = threshold(0.2, "of the size", "theory", "another gradient has nothing to do with it: 1"),
    least: float = threshold(5, "steps", "convention", "compared"),
) -> Iterator[Evidence]:
    """What the processes exchange is not the mean of their gradients.

    ## What it sees
    A sum with fixed factors over a few gradients, of each process alone and of what its step uses. The
    second is proportional to the mean of the first, and not equal to it: N times as large for N processes
    whose gradients are summed up, an Nth where the mean is divided once more. A loss that is divided by the
    number of processes before the backward pass, clipping and accumulation are taken into account. Judged
    where each process's loss is a mean over its own samples. Low for optimizers whose step does not depend
    on the size of gradients.

    ## Why it matters
    A sum over N processes makes steps N times as long as the rate says, another N another step, and limits
    of clipping are reached N times as early.

    ## When it is wrong
    Where a rate was divided by the number of processes to make up for it.

    ## What to try
    Divide by `dist.get_world_size()` after `all_reduce` (or `ReduceOp.AVG`), once; leave it to
    DistributedDataParallel; in a communication hook divide as well.

    ## Sources
    Li et al. (2020), PyTorch Distributed: experiences on accelerating data parallel training.
    """
    setup = run.setup
    if "sum" in (setup.word("loss_reduction_seen"), setup.word("loss_reduction")):
        raise CannotJudge("the loss is a sum over the samples, whose gradients may be summed up")
    if setup.word("loss_reduction_seen") != "mean" and setup.word("loss_reduction") != "mean":
        raise CannotJudge("whether the loss is a mean over the samples is not known")
    if "loss_scale" in run.series or setup.number("clip_value"):
        raise CannotJudge("gradients are scaled or cut between the backward pass and the step")
    found = exchanged(features)
    if found is None or len(found.steps) < least:
        raise CannotJudge("needs the sums over gradients of all processes, which were not recorded")
    before = divided_before(run)
    right = min(abs(found.ratio - 1.0), abs(found.ratio / before - 1.0))
    if found.off > off or right <= near or found.ratio <= 0:
        return
    ratio, ranks = found.ratio / before, found.ranks
    way = (
        "summed"
        if abs(ratio / ranks - 1) <= near
        else "divided"
        if abs(ratio * ranks - 1) <= near
        else "other"
    )
    free = is_scale_free(run)
    last = float(found.steps[-1])
    yield Evidence(
        onset=float(found.steps[0]),
        last=last,
        severity="low" if free else "medium",
        strength=0.5 if free else 1.0,
        aspects=(way, *("scale-free",) * free),
        values={"ratio": ratio, "ranks": ranks, "how": WAYS[way]},
        points=(EvidencePoint("exchange/used", last, ratio, 1.0, "x the mean"),),
    )


def divided_before(run: Run) -> float:
    """By what a loss was divided besides for accumulation."""
    divisor, passes = run.setup.number("loss_divided_by") or 1.0, run.setup.number("accumulation") or 1.0
    whole = divisor / passes
    return float(whole if whole >= 1 and np.isclose(whole, round(whole)) else divisor)
