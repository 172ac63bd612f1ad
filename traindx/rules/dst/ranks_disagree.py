"""DST002 ranks-disagree."""

import msgspec

from traindx.features.performance.processes import (
    Count,
    lagging_count,
    panels_by_rank,
    series_by_rank,
    spread_over_ranks,
)
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold

STEPS = "rank {rank} has made {own:g} steps while another has made {other:g}"


@rule(
    code="DST002",
    needs=("rank/*",),
    min_points=1,
    severity="high",
    message="the ranks do not have the same {what}: {share:.1%} apart, at {count} of {checked} "
    "compared steps",
)
def ranks_disagree(
    run: Run,
    features: Features,
    *,
    gradients: float = threshold(1e-3, "of the norm", "theory", "averaged gradients are equal in every bit"),
    weights: float = threshold(1e-4, "of the norm", "theory", "so are weights; rounding is 1e-7"),
    steps: float = threshold(0.05, "of the steps", "convention", "the end of a log may be missing"),
    often: float = threshold(0.05, "of the steps", "convention", "a single step may be incomplete in a log"),
    least: float = threshold(3, "steps", "convention", "compared"),
) -> Iterator[Evidence]:
    """Processes that should hold the same model differ in their gradients or weights.

    ## What it sees
    The gradient norm at the optimizer step, and the weight norms of the modules, of each rank at the
    same steps. After averaging they are equal in every bit. Here they differ by a thousandth (gradients)
    or a ten-thousandth (weights) at one in twenty compared steps, at least three. Losses are not
    compared, because each rank has different samples. Also reported where one rank has made a twentieth
    fewer steps than another that has stopped reporting.

    ## Why it matters
    Each process trains a separate model on its part of the data, and only one of them is saved.

    ## When it is wrong
    Processes that hold different parts of one model (tensor, expert or pipeline parallel) differ as they
    should. They are recognized from the record, or because their losses are all equal. Local SGD lets weights
    differ on purpose. A log may contain gradient norms from before the averaging.

    ## What to try
    Compare a checksum of the weights of all ranks after the first step. Check that the wrapper is called
    and not the module in it, and that no rank alone skips, clips or draws random numbers.

    ## Sources
    Li et al. (2020), PyTorch Distributed: experiences on accelerating data parallel training,
    https://arxiv.org/abs/2006.15704.
    """
    if in_parts(run) or same_losses(features):
        raise CannotJudge("the processes hold parts of one model")
    count = lagging_count(run, steps)
    if count is not None:
        yield fewer_steps(run, count)
        return
    both = (gradient_difference(features), weight_difference(run, features))
    found = [d for d in both if d is not None and len(d.steps) >= least]
    if not found:
        raise CannotJudge(
            "needs grad_norm or weight_norm of two ranks at the same steps, which were not recorded"
        )
    for difference in found:
        limit = gradients if difference.what == "gradients" else weights
        differ, checked = np.flatnonzero(difference.share > limit), len(difference.steps)
        if len(differ) < max(least, often * checked):
            continue
        share = float(api.median(difference.share[differ]))
        last, at_last = float(difference.steps[differ[-1]]), float(difference.share[differ[-1]])
        yield Evidence(
            onset=float(difference.steps[differ[0]]),
            last=last,
            aspects=(difference.what,),
            values={"what": difference.what, "share": share, "count": len(differ), "checked": checked},
            points=(api.EvidencePoint(difference.signal, last, at_last, limit, "of the norm"),),
        )
        return


def fewer_steps(run: Run, count: Count) -> Evidence:
    """The evidence that one rank has made fewer steps than another that has stopped reporting."""
    return Evidence(
        last=run.last_step,
        where=f"rank {count.rank}",
        aspects=("steps",),
        message=STEPS,
        values={"rank": count.rank, "own": count.own, "other": count.other},
        points=(api.EvidencePoint("last step", count.own, count.own, count.other, "step"),),
    )


class Difference(msgspec.Struct, frozen=True):
    """The relative difference `share[n]` between ranks at `steps[n]`."""

    what: str
    signal: str
    steps: api.Floats
    share: api.Floats


def in_parts(run: Run) -> bool:
    """Whether the parameters are known to be sharded over the processes."""
    wrapper = run.setup.word("wrapper").lower()
    return bool(run.setup.number("grad_norm_processes")) or "shard" in wrapper or "fsdp" in wrapper


def same_losses(features: Features) -> bool:
    """Whether all ranks have exactly the same losses: then they process the same samples together."""
    losses = series_by_rank(features, "train/loss")
    return losses is not None and len(losses.steps) > 0 and not spread_over_ranks(losses.values).any()


def gradient_difference(features: Features) -> Difference | None:
    norms = series_by_rank(features, "grad_norm")
    return (
        None
        if norms is None
        else Difference("gradients", "grad_norm", norms.steps, spread_over_ranks(norms.values))
    )


def weight_difference(run: Run, features: Features) -> Difference | None:
    """The module that differs most at each step, or the whole norm."""
    steps, panels = panels_by_rank(run, "weight_norm")
    norms = series_by_rank(features, "weight_norm")
    if panels and next(iter(panels.values())).size:
        values = np.stack([np.nan_to_num(panel, posinf=0.0) for panel in panels.values()])
        return Difference("weights", "weight_norm", steps, spread_over_ranks(values).max(axis=1))
    return (
        None
        if norms is None
        else Difference("weights", "weight_norm", norms.steps, spread_over_ranks(norms.values))
    )
