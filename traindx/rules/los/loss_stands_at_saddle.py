"""LOS017 loss-stands-at-saddle."""

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    is_learning,
    median,
    rule,
    threshold,
)


@rule(
    code="LOS017",
    needs=("curvature/min", "curvature/max", "objective"),
    min_points=3,
    severity="medium",
    message="the loss stands where it curves down ({low:.2g}) about as much as up ({high:.2g}): a saddle, no minimum",
    follows=("loss-not-finite", "loss-diverges", "learning-rate-is-zero"),
)
def loss_stands_at_saddle(
    run: Run,
    features: Features,
    *,
    down: float = threshold(
        0.25, "of the largest curvature", "measured", "51 small trainings: healthy 0.09 at most, stuck 0.3"
    ),
    late: float = threshold(0.5, "of the measurements", "convention", "where it came to stand"),
) -> Iterator[Evidence]:
    """The run does not learn, and stands at a place with a way down.

    ## What it sees
    The smallest eigenvalue of the Hessian of a batch's loss (traindx run --curvature), in the median of the
    second half: negative, and a quarter of the largest and more. Only where the objective does not learn.

    ## Why it matters
    At a minimum more steps are useless; at a saddle the way down is there, and is merely not found: the
    gradient has hardly a part along it, or steps are too long to stay near it.

    ## When it is wrong
    A run that jumps about at a much too high rate passes saddles, too; the curvature of a penalty on the
    weights outside of the loss (weight decay) is not in it.

    ## What to try
    Compare with the gradient norm: tiny ones ask for another start or normalization, large ones for a lower
    learning rate.

    ## Sources
    Dauphin et al. (2014), Identifying and attacking the saddle point problem; Ghorbani et al. (2019), An
    investigation into neural net optimization via Hessian eigenvalue density.
    """
    if is_learning(features) is not False:
        raise CannotJudge("only a run that does not learn is judged")
    low, high = features.needed_curve("curvature/min"), features.needed_curve("curvature/max")
    if not low.n or not high.n:
        raise CannotJudge("nothing finite was measured")
    first = int(late * low.n)
    bottom, top = float(median(low.values[first:])), float(median(high.values[int(late * high.n) :]))
    if bottom >= 0 or -bottom < down * top:
        return
    yield Evidence(
        onset=low.step_at(first),
        last=low.step_at(low.n - 1),
        values={"low": bottom, "high": top},
        points=(EvidencePoint("curvature/min", low.step_at(low.n - 1), bottom, 0.0),),
    )
