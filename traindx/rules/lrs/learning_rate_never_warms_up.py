"""LRS003 learning-rate-never-warms-up."""

from traindx.features.curves.schedule import traces
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="LRS003",
    needs=("objective", "lr|lr/*"),
    min_points=10,
    severity="low",
    message="{signal} starts at its peak of {lr:.3g} (step {first:g}), and {objective} jumps from "
    "{start:.4g} to {top:.4g} by step {at:g}",
)
def learning_rate_never_warms_up(
    run: Run,
    features: Features,
    *,
    peak: float = threshold(0.9, "of the peak rate", "convention", "a warm-up begins far below"),
    early: float = threshold(0.1, "of the run", "theory", "Adam settles in 1/(1-0.999) steps"),
    noise: float = threshold(6.0, "x the objective's own noise", "theory", "6 sigma, best of many"),
    high: float = threshold(0.2, "of the progress", "convention", "a jump in a plot"),
    begun: float = threshold(10, "x the distance of points", "convention", "a log that begins later"),
) -> Iterator[Evidence]:
    """The learning rate starts at its peak, and the loss jumps up in the first steps.

    ## What it sees
    A learning rate that starts at 90 % of its peak or more. Within the first tenth of the run, the objective
    rises above its first value by 6 times its noise and 20 % of the progress. Severity is low, and medium if
    the objective ends above its first value. Without such a jump nothing is reported, because many runs need
    no warm-up.

    ## Why it matters
    Adam's estimate of the gradient variance is unreliable in the first steps. A jump there can cost much of
    the run.

    ## When it is wrong
    A rate that is simply too high causes a jump as well. A log may begin after the warm-up.

    ## What to try
    A linear warm-up over the first 1 to 5 % of the steps. If the loss still jumps, lower the rate.

    ## Sources
    Goyal et al. (2017), Accurate, large minibatch SGD, arXiv:1706.02677. Liu et al. (2020), On the variance
    of the adaptive learning rate and beyond (RAdam), arXiv:1908.03265. Gilmer et al. (2022),
    arXiv:2110.04369.
    """
    objective = features.objective
    curves = traces(features)
    if objective is None or features.is_reinforcement or not curves or objective.n < 4:
        raise api.CannotJudge("needs the loss and the learning rate from the start of the run")
    curve = curves[0]
    distance = float(api.median(np.diff(objective.steps)))
    if (
        objective.step_at(0) > begun * distance
        or curve.values[0] < peak * curve.values.max()
        or curve.values[0] <= 0
    ):
        return
    top = int(np.argmax(objective.as_loss[: max(4, int(early * objective.n))]))
    start = float(objective.as_loss[0])
    rise = float(objective.as_loss[top]) - start
    if top and rise > noise * objective.noise and rise > high * (start - float(objective.as_loss.min())):
        yield evidence(curve, objective, top)


def evidence(curve: Curve, objective: Curve, top: int) -> Evidence:
    at, first = objective.step_at(top), curve.step_at(0)
    start, height = float(objective.values[0]), float(objective.values[top])
    stays = objective.end >= objective.as_loss[0]
    return Evidence(
        onset=at,
        last=at,
        where=curve.name,
        aspects=("never-recovers",) if stays else (),
        severity="medium" if stays else "low",
        values={
            "signal": curve.name,
            "lr": float(curve.values[0]),
            "first": first,
            "objective": objective.name,
            "start": start,
            "top": height,
            "at": at,
        },
        points=(
            api.EvidencePoint(curve.name, first, float(curve.values[0])),
            api.EvidencePoint(objective.name, at, height, start),
        ),
    )
