"""LRS002 learning-rate-vanishes-early."""

from traindx.features.curves.schedule import traces, vanishes_at
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, np, rule, threshold

FEWEST = 4  # points that have a slope


@rule(
    code="LRS002",
    needs=("lr|lr/*", "objective"),
    min_points=10,
    severity="medium",
    message="{signal} falls below {share:.2g} of its peak at step {at:g}, with {rest:.0%} of the "
    "run left, while {objective} was still improving",
)
def learning_rate_vanishes_early(
    run: Run,
    features: Features,
    *,
    share: float = threshold(0.01, "of the peak", "theory", "steps are 1 % as long"),
    rest: float = threshold(0.2, "of the run", "theory", "cosine decay is below 1 % for the last 6 %"),
    deep: float = threshold(0.001, "of the peak, at the median", "convention", "annealing ends there"),
    sure: float = threshold(3.0, "x the error of the slope", "theory", "3 sigma"),
    moving: float = threshold(0.05, "of the progress", "convention", "less: converged before"),
    strong: float = threshold(0.3, "of the peak", "convention", "above it the rate still has an effect"),
    frozen: float = threshold(0.2, "of the progress", "convention", "more: it still learns"),
    batches: float = threshold(50, "recorded steps", "convention", "no schedule of a run is so short"),
) -> Iterator[Evidence]:
    """The learning rate is almost zero for a long last part of the run, while the loss still improves.

    ## What it sees
    A learning rate below 1 % of its peak (median below 0.1 %) for at least the last 20 % of the run. The
    objective was still improving when that began, and hardly improves after it. Severity is medium, and high
    if it lasts for more than half of the run.

    ## Why it matters
    The rest of the run is wasted, and the loss stays higher than necessary.

    ## When it is wrong
    A last phase at a tiny rate can be intended (weight averaging, annealing). An exponential decay over the
    whole run is intended, and is not reported.

    ## What to try
    Check whether the scheduler counts epochs but is stepped per batch, and whether its planned length is
    right.

    ## Sources
    PyTorch, how to adjust the learning rate:
    https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate. Li et al. (2020), Budgeted
    training: rethinking deep neural network training under resource constraints, arXiv:1905.04753.
    """
    objective = features.objective
    curves = [c for c in traces(features) if c.values.max() > 0]
    if objective is None or not curves:
        return
    # The group that is trained longest decides. The others may be frozen on purpose.
    curve = max(curves, key=lambda c: c.step_at(vanishes_at(c.values, share)))
    at = vanishes_at(curve.values, share)
    if at >= curve.n:
        return
    length = curve.step_at(curve.n - 1) - curve.step_at(0)
    left = (curve.step_at(curve.n - 1) - curve.step_at(at)) / max(length, np.finfo(np.float64).tiny)
    full = curve.step_at(vanishes_at(curve.values, strong))
    by_batch = bool(run.panels) and vanishes_at(curve.values, strong) < batches
    gone = float(api.median(curve.values[at:])) < deep * curve.values.max()
    if (
        left < rest
        or not gone
        or (is_exponential(curve) and not by_batch)
        or goes_on(objective, curve.step_at(at), sure, frozen)
    ):
        return
    if was_improving(objective, curve.step_at(at), sure, moving) or was_improving(
        objective, full, sure, 2 * moving
    ):
        yield evidence(curve, at, left, objective, share)


def is_exponential(
    curve: Curve,
    *,
    straight: float = threshold(0.07, "of the decades", "theory", "fifteen steps or more"),
    lowest: float = threshold(1e-6, "of the peak", "convention", "below it, the rate decays in every batch"),
) -> bool:
    """Whether the logarithm of the rate falls along one line to the end of the run, as interatomic potentials are
    trained: the schedule was stretched over the run, and its last decades are wanted."""
    if curve.values[-1] < lowest * curve.values.max():
        return False
    decades, steps = np.log10(curve.values), curve.steps
    line = decades[0] + (decades[-1] - decades[0]) * (steps - steps[0]) / max(steps[-1] - steps[0], 1.0)
    return bool(np.abs(decades - line).max() <= straight * abs(decades[-1] - decades[0]))


def goes_on(objective: Curve, at: float, sure: float, frozen: float) -> bool:
    """Whether the objective improves after step `at` too, or too few points are left to judge."""
    after = objective.as_loss[np.searchsorted(objective.steps, at) :]
    if len(after) < FEWEST or objective.span <= 0:
        return True
    later = api.slope(after)
    return later.z < -sure and -later.change > frozen * objective.span


def was_improving(objective: Curve, at: float, sure: float, moving: float) -> bool:
    """Whether the objective was improving over the second half of the time up to step `at`."""
    cut = int(np.searchsorted(objective.steps, at))
    before = objective.as_loss[min(cut // 2, max(cut - FEWEST, 0)) : cut]
    if len(before) < FEWEST:
        return False
    earlier = api.slope(before)
    return earlier.z < -sure and -earlier.change > moving * objective.span


def evidence(curve: Curve, at: int, left: float, objective: Curve, share: float) -> Evidence:
    step, last = curve.step_at(at), curve.step_at(curve.n - 1)
    peak = float(curve.values.max())
    return Evidence(
        onset=step,
        last=last,
        where=curve.name,
        strength=float(np.clip(2 * left, 0.5, 1)),
        aspects=("most-of-the-run",) if left > 0.5 else (),
        severity="high" if left > 0.5 else "medium",
        values={"signal": curve.name, "share": share, "at": step, "rest": left, "objective": objective.name},
        points=(
            api.EvidencePoint(curve.name, step, float(curve.values[at]), peak),
            api.EvidencePoint(curve.name, last, float(curve.values[-1]), peak),
            api.EvidencePoint(objective.name, step, float(objective.at_steps(np.array([step]))[0])),
        ),
    )
