"""DST002 ranks-disagree."""

from typing import NamedTuple

from traindx.features.performance.processes import apart, by_rank, count_apart, panels_by_rank
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
)

STEPS = "rank {rank} has made {own:g} steps while another has made {other:g}"


@rule(
    code="DST002",
    needs=("rank/*",),
    min_points=1,
    severity="high",
    message="the ranks do not hold the same {what}: {share:.1%} apart, at {count} of {checked} steps compared",
)
def ranks_disagree(
    run: Run,
    features: Features,
    *,
    gradients: float = threshold(1e-3, "of the norm", "theory", "averaged gradients are the same bits"),
    weights: float = threshold(1e-4, "of the norm", "theory", "so are weights; 1e-7 is rounding"),
    steps: float = threshold(0.05, "of the steps", "convention", "the end of a log may be cut off"),
    often: float = threshold(0.05, "of the steps", "convention", "a single one may be cut off a log"),
    least: float = threshold(3, "steps", "convention", "compared"),
) -> Iterator[Evidence]:
    """Processes that should hold the same model differ in their gradients or weights.

    ## What it sees
    The gradient norm at the optimizer's step, and the weight norms of the modules, of each rank at the same
    steps. After averaging they are equal to the last bit; here they differ by a thousandth (gradients) or a
    ten-thousandth (weights) at one of twenty steps compared, three at least. Losses are not compared: each
    rank has its own samples. Or one rank has made a twentieth fewer steps than another that reported no
    longer.

    ## Why it matters
    Each process trains a model of its own, on its own part of the data; what is saved is one of them.

    ## When it is wrong
    Processes that hold different parts of one model (tensor, expert or pipeline parallel) differ as they
    should; that is noticed where capture tells it, or where their losses are all the same. Local SGD lets
    weights part on purpose. A log may hold gradient norms from before the averaging.

    ## What to try
    Compare a checksum of the weights of all ranks after the first step; see that the wrapper is called and
    not the module in it, and that no rank skips, clips or draws by itself.

    ## Sources
    Li et al. (2020), PyTorch Distributed: experiences on accelerating data parallel training.
    """
    if in_parts(run) or same_losses(features):
        raise CannotJudge("the processes hold parts of one model")
    count = count_apart(run, steps)
    if count is not None:
        yield Evidence(
            last=run.last_step,
            where=f"rank {count.rank}",
            aspects=("steps",),
            message=STEPS,
            values={"rank": count.rank, "own": count.own, "other": count.other},
            points=(EvidencePoint("last step", count.own, count.own, count.other, "step"),),
        )
        return
    found = [
        p
        for p in (of_gradients(features), of_weights(run, features))
        if p is not None and len(p.steps) >= least
    ]
    if not found:
        raise CannotJudge(
            "needs grad_norm or weight_norm of two ranks at the same steps, which were not recorded"
        )
    for parting, limit in zip(
        found, [gradients if p.what == "gradients" else weights for p in found], strict=True
    ):
        differ = np.flatnonzero(parting.share > limit)
        if len(differ) < max(least, often * len(parting.steps)):
            continue
        share = float(median(parting.share[differ]))
        worst = float(parting.steps[differ[-1]])
        yield Evidence(
            onset=float(parting.steps[differ[0]]),
            last=worst,
            aspects=(parting.what,),
            values={
                "what": parting.what,
                "share": share,
                "count": len(differ),
                "checked": len(parting.steps),
            },
            points=(
                EvidencePoint(parting.signal, worst, float(parting.share[differ[-1]]), limit, "of the norm"),
            ),
        )
        return


class Parting(NamedTuple):
    """By which `share[n]` of its size something differs between ranks at `steps[n]`."""

    what: str
    signal: str
    steps: Floats
    share: Floats


def in_parts(run: Run) -> bool:
    """Whether parameters are known to be spread over the processes."""
    wrapper = run.setup.word("wrapper").lower()
    return bool(run.setup.number("grad_norm_processes")) or "shard" in wrapper or "fsdp" in wrapper


def same_losses(features: Features) -> bool:
    """Whether all ranks compute the very same losses: then they work on the same samples together."""
    losses = by_rank(features, "train/loss")
    return losses is not None and len(losses.steps) > 0 and not apart(losses.values).any()


def of_gradients(features: Features) -> Parting | None:
    norms = by_rank(features, "grad_norm")
    return None if norms is None else Parting("gradients", "grad_norm", norms.steps, apart(norms.values))


def of_weights(run: Run, features: Features) -> Parting | None:
    """The module that differs most, at each step; or the whole norm."""
    steps, panels = panels_by_rank(run, "weight_norm")
    norms = by_rank(features, "weight_norm")
    if panels and next(iter(panels.values())).size:
        values = np.stack([np.nan_to_num(panel, posinf=0.0) for panel in panels.values()])
        return Parting("weights", "weight_norm", steps, apart(values).max(axis=1))
    return None if norms is None else Parting("weights", "weight_norm", norms.steps, apart(norms.values))
