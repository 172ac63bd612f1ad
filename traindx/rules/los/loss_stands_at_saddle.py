"""LOS017 loss-stands-at-saddle."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, median, rule, threshold


@rule(
    code="LOS017",
    needs=("curvature/min", "curvature/max", "objective"),
    min_points=3,
    severity="medium",
    message="the loss is at a saddle point: its curvature is {low:.2g} in one direction and "
    "{high:.2g} in another",
    follows=("loss-not-finite", "loss-diverges", "learning-rate-is-zero"),
)
def loss_stands_at_saddle(
    run: Run,
    features: Features,
    *,
    down: float = threshold(
        0.25, "of the largest curvature", "measured", "51 small trainings: healthy 0.09 at most, stuck 0.3"
    ),
    late: float = threshold(0.5, "of the measurements", "convention", "where the run got stuck"),
) -> Iterator[Evidence]:
    """The run does not learn, although the loss has a direction of descent.

    ## What it sees
    The smallest Hessian eigenvalue of the loss of a batch (`traindx run --curvature`). Its median over the
    second half of the run is negative, and at least a quarter of the largest eigenvalue. Only runs that do
    not learn are judged.

    ## Why it matters
    At a minimum more steps are useless. At a saddle point there is a way down that the optimizer does not
    find: the gradient has almost no component along it, or the steps are too long.

    ## When it is wrong
    A run at a much too high learning rate passes saddle points too. Weight decay is not part of the measured
    curvature.

    ## What to try
    Look at the gradient norm. If it is tiny, try another initialization or normalization layers. If it is
    large, lower the learning rate.

    ## Sources
    Dauphin et al. (2014), Identifying and attacking the saddle point problem in high-dimensional non-convex
    optimization, arXiv:1406.2572. Ghorbani et al. (2019), An investigation into neural net optimization via
    Hessian eigenvalue density, arXiv:1901.10159.
    """
    if api.is_learning(features) is not False:
        raise CannotJudge("only a run that does not learn is judged")
    low, high = features.needed_curve("curvature/min"), features.needed_curve("curvature/max")
    if not low.n or not high.n:
        raise CannotJudge("no finite curvature was recorded")
    first = int(late * low.n)
    bottom, top = float(median(low.values[first:])), float(median(high.values[int(late * high.n) :]))
    if bottom >= 0 or -bottom < down * top:
        return
    yield Evidence(
        onset=low.step_at(first),
        last=low.step_at(low.n - 1),
        values={"low": bottom, "high": top},
        points=(api.EvidencePoint("curvature/min", low.step_at(low.n - 1), bottom, 0.0),),
    )
