"""LOS004 loss-plateaus."""

from traindx.features.curves.chance_level import chance_classes
from traindx.features.curves.generalization import kendall
from traindx.features.curves.score_scales import late_median
from traindx.features.curves.settled_scores import poor_settled_score
from traindx.rules.api import (
    TREND_PARTS,
    Curve,
    Evidence,
    Features,
    Flat,
    Iterator,
    Run,
    Severity,
    best_skill,
    block_medians,
    flat_tail,
    format_step,
    improvement,
    median,
    np,
    robust_sigma,
    rule,
    scores,
    slope,
    threshold,
)


@rule(
    code="LOS004",
    needs=("objective",),
    min_points=5,
    severity="low",
    persistence="slow",
    message="{name} has been level at {level:.4g} (median) {since}",
    follows=("loss-diverges", "loss-not-finite", "learning-rate-vanishes-early", "learning-rate-is-zero"),
)
def loss_plateaus(
    run: Run,
    features: Features,
    *,
    still: float = threshold(0.12, "of the speed before", "theory", "power laws keep more than this"),
    most: float = threshold(0.05, "of all gained before", "convention", "a gain that a plot shows"),
    moved: float = threshold(0.02, "of the level", "measured", "see LOS003"),
    little: float = threshold(0.3, "of the starting level", "convention", "hardly anything learned"),
    done: float = threshold(0.1, "of the starting level", "convention", "the loss has converged"),
    decayed: float = threshold(0.1, "of the peak learning rate", "convention", "usual schedules"),
    some: float = threshold(8, "points", "convention", "fewer have no stretch"),
    least: float = threshold(12, "points", "measured", "fewer show no plateau, unless one repeats"),
    good: float = threshold(0.9, "accuracy", "convention", "the model has learned"),
    tiny_norm: float = threshold(1e-2, "gradient norm", "convention", "healthy norms are 0.1 to 10"),
    steady: float = threshold(0.02, "of the level", "convention", "a level that holds: see LOS011"),
) -> Iterator[Evidence]:
    """After an initial fall the loss is level for at least a third of the run.

    ## What it sees
    The longest final stretch in which the curve improves, with two standard errors added, at less than 12 %
    of its speed while the number of steps last doubled. Speed is measured per unit of the logarithm of the
    step, because a power law hardly slows down on that scale. A log that begins in the middle of a run and
    never moves is reported too, and so is one that repeats one value next to a good score. Three notes are
    reported: a validation loss or score that is level while training continues, and a score that has stopped
    improving at a useless value. The third says that the later two thirds of a curve go neither up nor down beyond
    their scatter. Aspects say whether the level is at chance, high or low, whether the
    learning rate had decayed, and what the gradient norm does. Severity is low, and medium at chance level.

    ## Why it matters
    More of the same will not help. It may be convergence, or a learning rate, schedule or capacity that
    limits the run.

    ## When it is wrong
    In some tasks (modular arithmetic, very deep or ternary networks) a long plateau precedes sudden
    learning: wait twice the length of the plateau. A plateau under a decayed learning rate is what the
    schedule is for.

    ## What to try
    Compare with validation and with the best possible loss. Then change the learning rate, the schedule and
    the capacity, in this order.

    ## Sources
    Hestness et al. (2017), Deep learning scaling is predictable, empirically (power laws), arXiv:1712.00409.
    Power et al. (2022), Grokking, arXiv:2201.02177.
    """
    curve = features.needed_curve("objective")
    flat = repeated_value_plateau(curve)
    if flat is None and curve.n >= least:
        flat = flat_tail(curve, still=still, most=most) or late_start(run, curve, moved)
    flat = plateau_at_rest(curve, moved) if flat is None and some <= curve.n < 2 * least else flat
    if flat is None:
        yield from level_validation(features, curve, still, most, least)
        return
    level = float(median(curve.as_loss[flat.first :]))
    if float(curve.as_loss.min()) >= 0 and level < done * curve.start:
        return
    unmoved = np.ptp(curve.values) == 0 and best_skill(features) < good
    if unmoved and (curve.sign < 0 or not begins_late(run)):
        return  # without a good score, a loss that never moved belongs to loss-flat-from-start
    marks = tuple(aspects(features, curve, flat, level, (little, decayed, good, tiny_norm, steady)))
    yield Evidence(
        onset=curve.step_at(flat.first),
        last=float(curve.steps[-1]),
        aspects=marks,
        severity=severity(marks),
        strength=min(1.0, 0.5 + flat.share / 2),
        values=message_values(curve, flat, level),
        points=(curve.point(flat.first, level), curve.point(-1, curve.end, level)),
    )


def begins_late(run: Run) -> bool:
    return any(event.code == "late-start" for event in run.events)


def message_values(curve: Curve, flat: Flat, level: float) -> dict[str, object]:
    """The values of the message about a flat stretch."""
    onset = curve.step_at(flat.first)
    share = f"{flat.share:.0%}"
    part = f"since step {format_step(onset)}, {share} of the run"
    since = "throughout the run" if share == "100%" else part
    return {"name": curve.name, "level": level * curve.sign, "since": since}


def level_validation(
    features: Features, objective: Curve, still: float, most: float, least: float
) -> Iterator[Evidence]:
    """A note: a score has settled at a poor value, or the validation loss or score is level while the training
    loss still falls."""
    poor = poor_settled_score(features)
    if poor is not None:
        yield poor_level(poor)
        return
    val = features.curve("val/loss")
    for curve in (*([val] if val is not None else []), *scores(features, "val/", int(least))):
        flat = (
            flat_tail(curve, still=still, most=most) if curve is not objective and curve.n >= least else None
        )
        if flat is None:
            continue
        level, onset = float(median(curve.as_loss[flat.first :])), curve.step_at(flat.first)
        yield Evidence(
            onset=onset,
            last=float(curve.steps[-1]),
            where=curve.name,
            severity="info",
            strength=0.5,
            aspects=("validation",),
            values=message_values(curve, flat, level),
            points=(curve.point(flat.first, level), curve.point(-1, curve.end, level)),
        )
        return
    yield from no_longer_better(objective, least)


def no_longer_better(
    curve: Curve,
    least: float,
    *,
    surely: float = threshold(2.0, "x standard error", "theory", "the usual bound of significance"),
    part: float = threshold(0.02, "of the whole gain", "convention", "less is not seen in a plot"),
    ordered: float = threshold(
        0.2, "Kendall's tau", "theory", "of 24 levels in any order, 1 in 12 has more"
    ),
) -> Iterator[Evidence]:
    """A note: the later two thirds of a curve go neither up nor down beyond their scatter, or hardly at all."""
    first = max(1, curve.n // 3)
    later, fit = curve.as_loss[first:], slope(curve.as_loss[first:])
    level = float(median(later))
    gained = float(curve.as_loss[0]) - level
    hardly = abs(fit.change) + surely * fit.error < part * gained
    levels = block_medians(later, TREND_PARTS)
    steady = abs(fit.change) <= surely * fit.error and abs(kendall(levels)) <= ordered
    fell = gained > surely * curve.noise or curve.sign < 0  # a loss that never fell is loss-flat-from-start
    if curve.n < least or not fell or not (steady or hardly):
        return
    yield Evidence(
        onset=curve.step_at(first),
        last=float(curve.steps[-1]),
        severity="info",
        strength=0.5,
        aspects=("validation",),
        message=f"{curve.name} has not improved beyond its scatter since step {curve.step_at(first):g} "
        f"(level {level * curve.sign:.4g}, median)",
        points=(curve.point(first, level), curve.point(-1, curve.end, level)),
    )


def poor_level(curve: Curve) -> Evidence:
    """A score that has stopped improving at a useless value, whatever the loss does."""
    third = curve.step_at(curve.n // 3)
    return Evidence(
        onset=third,
        last=float(curve.steps[-1]),
        where=curve.name,
        severity="info",
        strength=0.5,
        aspects=("validation",),
        message=f"{curve.name} has stopped improving at about {late_median(curve):.3g} (median of its last third), a poor "
        "score",
        points=(curve.point(-1, late_median(curve) * curve.sign),),
    )


def repeated_value_plateau(curve: Curve) -> Flat | None:
    """The whole log as one plateau, if it repeats one value."""
    return Flat(0, 0.0, 0.0, 1.0) if curve.n and np.ptp(curve.values) == 0 else None


def plateau_at_rest(curve: Curve, moved: float) -> Flat | None:
    """The last two thirds of a few points, if they end within `moved` of the level at which they begin, were
    not better in between, and make no more than `moved` of the whole gain."""
    first = curve.n // 3
    y = curve.as_loss[first:]
    begin, end = float(y[0]), float(median(y[-3:]))
    gained = float(curve.as_loss[0]) - end
    bound = moved * min(abs(end), gained)
    # A curve that is better in between, or scatters widely, has no level.
    if gained <= 0 or abs(begin - end) > bound or y.min() < end - bound:
        return None
    return Flat(first, end - begin, bound, len(y) / curve.n)


def late_start(run: Run, curve: Curve, moved: float) -> Flat | None:
    """The whole log as one plateau, if it begins in the middle of a run and does not move."""
    if not any(e.code == "late-start" for e in run.events):
        return None
    fall, error = improvement(curve)
    level = float(median(np.abs(curve.values)))
    return Flat(0, -fall, error, 1.0) if max(abs(fall), error) < moved * level else None


def severity(marks: tuple[str, ...]) -> Severity:
    """Medium only if the level itself is known to be bad and no schedule explains it."""
    return "medium" if "at-chance" in marks and "lr-decayed" not in marks else "low"


def aspects(
    features: Features,
    curve: Curve,
    flat: Flat,
    level: float,
    bounds: tuple[float, float, float, float, float],
) -> Iterator[str]:
    little, decayed, good, tiny, steady = bounds
    # The loss of guessing hardly varies between batches. A level that varies is near ln k by coincidence.
    holds = robust_sigma(curve.values[flat.first :]) < steady * abs(level)
    if curve.name.endswith("loss") and holds and chance_classes(level, features.run.setup.classes):
        yield "at-chance"
    fall = curve.start - level
    yield "high" if curve.sign > 0 and fall < little * abs(curve.start) else "low"
    lr = features.curve("lr")
    if lr is not None and lr.n >= 2:
        rates = np.abs(lr.at_steps(curve.steps[flat.first :]))
        peak = float(np.max(np.abs(lr.values)))
        if peak > 0 and float(median(rates)) < decayed * peak:
            yield "lr-decayed"
        before = np.abs(
            lr.at_steps(curve.steps[max(0, flat.first - curve.n // TREND_PARTS) : flat.first + 1])
        )
        if len(before) > 1 and float(before[-1]) < 0.5 * float(before[0]):
            yield "after-lr-drop"
    for name in ("val/accuracy", "train/accuracy"):
        metric = features.curve(name)
        if metric is not None and metric.n and float(median(metric.values[-3:])) >= good:
            yield "metric-good"
            break
    norm = features.curve("grad_norm")
    if norm is not None and norm.n:
        during = norm.values[norm.steps >= curve.step_at(flat.first)]
        yield "norm-tiny" if float(median(during if len(during) else norm.values)) < tiny else "norm-healthy"
