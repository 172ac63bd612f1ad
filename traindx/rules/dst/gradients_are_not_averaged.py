"""DST005 gradients-are-not-averaged."""

from traindx.features.performance.processes import exchanged_mean, is_scale_free
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold

WAYS = {
    "summed": ": they are summed, not averaged",
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
    off: float = threshold(0.2, "of the size", "theory", "1 for an unrelated gradient"),
    least: float = threshold(5, "steps", "convention", "compared"),
) -> Iterator[Evidence]:
    """The processes do not exchange the mean of their gradients.

    ## What it sees
    A sum with fixed factors over a few gradients, for each process alone and for the gradient used in its
    step. The second is proportional to the mean of the first, but not equal: N times as large for N processes
    whose gradients are summed, 1/N where the mean is divided once more. Division of the loss by the number of
    processes, clipping and accumulation are taken into account. It is judged if the loss of each process is a
    mean over its samples. Severity is medium, and low for optimizers whose step does not depend on the size
    of the gradients.

    ## Why it matters
    With a sum over N processes, steps are N times as large as the rate suggests, and change with N. Gradients
    reach clipping limits earlier.

    ## When it is wrong
    The rate was divided by the number of processes to compensate.

    ## What to try
    Divide once by `dist.get_world_size()` after `all_reduce`, also in a communication hook, or use
    `ReduceOp.AVG`. DistributedDataParallel does it for you.

    ## Sources
    Li et al. (2020), PyTorch Distributed: experiences on accelerating data parallel training,
    https://arxiv.org/abs/2006.15704.
    """
    setup = run.setup
    if "sum" in (setup.word("loss_reduction_seen"), setup.word("loss_reduction")):
        raise CannotJudge("the loss is a sum over the samples, so summed gradients are correct")
    if setup.word("loss_reduction_seen") != "mean" and setup.word("loss_reduction") != "mean":
        raise CannotJudge("whether the loss is a mean over the samples is not known")
    if "loss_scale" in run.series or setup.number("clip_value"):
        raise CannotJudge("gradients are scaled or clipped between the backward pass and the step")
    found = exchanged_mean(features)
    if found is None or len(found.steps) < least:
        raise CannotJudge("needs the sums over gradients of all processes, which were not recorded")
    before = divided_before(run)
    right = min(abs(found.ratio - 1.0), abs(found.ratio / before - 1.0))
    if found.off > off or right <= near or found.ratio <= 0:
        return
    ratio, ranks = found.ratio / before, found.ranks
    way = "summed" if abs(ratio / ranks - 1) <= near else "other"
    if abs(ratio * ranks - 1) <= near:
        way = "divided"
    free = is_scale_free(run)
    last = float(found.steps[-1])
    yield Evidence(
        onset=float(found.steps[0]),
        last=last,
        severity="low" if free else "medium",
        strength=0.5 if free else 1.0,
        aspects=(way, *("scale-free",) * free),
        values={"ratio": ratio, "ranks": ranks, "how": WAYS[way]},
        points=(api.EvidencePoint("exchange/used", last, ratio, 1.0, "x the mean"),),
    )


def divided_before(run: Run) -> float:
    """The divisor of the loss, not counting accumulation."""
    divisor, passes = run.setup.number("loss_divided_by") or 1.0, run.setup.number("accumulation") or 1.0
    whole = divisor / passes
    return float(whole if whole >= 1 and np.isclose(whole, round(whole)) else divisor)
