"""LOS003 loss-flat-from-start."""

from traindx.features.curves.chance_level import chance_classes
from traindx.rules.api import (
    TREND_PARTS,
    CannotJudge,
    Curve,
    Evidence,
    Features,
    Iterator,
    Run,
    best_skill,
    block_medians,
    improvement,
    is_late,
    median,
    median_error,
    np,
    rule,
    scale_of,
    skill,
    slope,
    threshold,
    words_of,
)

DIVERGENCES = frozenset({"kl", "kld", "kldiv", "mmd"})
SUCCESS = frozenset({"success", "successes", "win", "wins", "winrate", "solved"})
CAPS = (1.0, 100.0)  # of a share, and in percent
EXPLORATION = frozenset({"epsilon", "eps", "exploration"})


@rule(
    code="LOS003",
    needs=("objective",),
    min_points=3,
    severity="high",
    persistence="slow",
    message="{name} did not improve: {start:.4g} at the start, {end:.4g} at the end (medians, {n} points)",
    follows=("learning-rate-is-zero", "loss-diverges"),
)
def loss_flat_from_start(
    run: Run,
    features: Features,
    *,
    moved: float = threshold(0.02, "of the level", "measured", "broken runs move by less than 0.5 %"),
    surely: float = threshold(3.0, "x standard error", "theory", "a fall this clear is no noise"),
    power: float = threshold(0.1, "of the level", "convention", "noise must not hide more"),
    clearly: float = threshold(4.0, "x standard error", "theory", "of another metric that improves"),
    gained: float = threshold(0.1, "of the metric", "convention", "an improvement worth having"),
    dip: float = threshold(0.06, "of the level", "convention", "a level in mid-run that was really lower"),
    tiny_norm: float = threshold(1e-3, "gradient norm", "convention", "healthy: 0.1 to 10"),
    few: float = threshold(8, "points", "convention", "fewer do not show the noise"),
    same: float = threshold(0.005, "of the level", "measured", "broken runs move by less than 0.5 %"),
    epochs: float = threshold(5, "epochs", "convention", "a few points are judged late in a run only"),
    steps: float = threshold(1e4, "steps", "convention", "the same if epochs are not logged"),
    good: float = threshold(0.9, "of the way to perfect", "convention", "a score that is good"),
    many: float = threshold(100, "points", "theory", "a mean of ten is known to a third of the scatter"),
    some: float = threshold(18, "points", "theory", "a mean of six is known to two fifths of the scatter"),
) -> Iterator[Evidence]:
    """The loss is where it started, for the whole run.

    ## What it sees
    The fall from the first to the last tenth of the points is below 2 % of the level, and no trend inside
    the run is clear against the noise. If the noise could hide a fall of 10 % of the level, the rule does
    not judge. Severity is high, and medium for few points:

    - a reward is compared with its own scatter, and is medium below 100 points;
    - of 3 to 7 points, only a loss that repeats one value, or moves by less than 0.5 % late in the run, is
      reported.

    ## Why it matters
    Nothing is learned. The connection between data and weights is broken somewhere, or the steps are far too
    small.

    ## When it is wrong
    Some runs are flat at first and then fall (an S-curve): wait twice the usual flat stretch. A loss that is
    near zero by construction (policy ratios) cannot fall. The rule is silent if a reward or an accuracy
    improves, if another part of the loss falls, if an agent succeeds throughout or still draws most actions
    at random.

    ## What to try
    Check that the parameters change at all. Overfit one batch. Multiply the learning rate by ten.

    ## Sources
    Karpathy (2019), A recipe for training neural networks (overfit one batch),
    https://karpathy.github.io/2019/04/25/recipe/. Measured: the loss of broken runs moved by less than 0.5
    %.
    """
    curve = features.needed_curve("objective")
    if why := why_not_shown(run, features, curve):
        raise CannotJudge(why)
    level = float(median(np.abs(curve.values))) - features.floor(curve.name)
    constant = bool(np.ptp(curve.values) == 0)
    if another_improves(features, curve, clearly, gained) or (constant and level == 0 and curve.sign > 0):
        return
    short = curve.n < few
    if ((constant or short) and rests_well(features, curve, good)) or begins_well(features, curve, good):
        return
    rests = np.ptp(curve.values) < same * level
    if short and not (constant or (rests and (curve.sign < 0 or is_late(features, epochs, steps)))):
        raise CannotJudge(f"{curve.n} points are too few for a trend")
    if curve.sign < 0 and not constant:
        yield from flat_score(features, curve, many, surely, some, same)
        return
    if not constant and moves(curve, moved * level, dip * level, power * level, surely):
        return
    marks = tuple(aspects(features, curve, level, constant, tiny_norm))
    sure = not short and (constant or improvement(curve)[1] < moved * level)
    yield evidence(curve, marks, sure=sure, short=short)


def why_not_shown(
    run: Run,
    features: Features,
    curve: Curve,
    *,
    updates: float = threshold(50, "steps", "convention", "shorter than a warm-up"),
    digits: float = threshold(
        20, "points", "convention", "losses of batches, which are the same by no chance"
    ),
) -> str:
    """Why the log does not show whether anything is learned ("" if it does)."""
    said = run.setup.word("symptoms")  # of a loss or a score, by somebody who saw the start
    stuck = np.ptp(curve.values) == 0 and curve.n > 3
    reported = stuck and (curve.n >= digits or "flat" in said or "constant" in said)
    if any(e.code == "late-start" for e in run.events) and not reported:
        return "the log does not show the start of the run"
    done, planned = run.last_step or 0.0, run.setup.planned_steps or 0
    if run.axis == "step" and done < updates < planned and np.ptp(curve.values):
        return f"only {done:.0f} of {planned} steps are logged, which is within the usual warm-up"
    return "the agent still draws most of its actions at random" if agent_explores(features) else ""


def rests_well(features: Features, curve: Curve, good: float) -> bool:
    """Whether the curve is a loss next to a score that is good: a level at which there is little left to learn."""
    return curve.sign > 0 and best_skill(features) >= good


def begins_well(
    features: Features,
    curve: Curve,
    good: float,
    *,
    usual: float = threshold(0.5, "of the points", "convention", "most of the run"),
) -> bool:
    """Whether the curve is a score that is near perfect throughout: at most points exactly 1 or 100, or on a scale
    that is known."""
    if curve.sign < 0 and curve.values.max() in CAPS and np.isin(curve.values, CAPS).mean() > usual:
        return True
    scale = scale_of(curve.name, curve.values, features.run.setup.classes)
    known = None if scale is None else skill(float(median(curve.values)), scale)
    return (known is not None and known >= good) or (curve.sign < 0 and agent_succeeds(features, good))


def agent_succeeds(features: Features, good: float) -> bool:
    """Whether an agent's logged rate of success is near one throughout."""
    rates = (features.curve(n) for n in features.run.series if words_of(n) & SUCCESS)
    halves = [np.array_split(c.values, 2) for c in rates if c is not None and c.n > 2]
    return any(
        max(float(b.max()) for b in h) <= 1 and min(float(np.mean(b)) for b in h) >= good for h in halves
    )


def agent_explores(
    features: Features,
    *,
    most: float = threshold(0.5, "of the actions", "theory", "most are random"),
) -> bool:
    """Whether an agent's logged rate of exploration ends above one half."""
    rates = [features.curve(n) for n in features.run.series if words_of(n) & EXPLORATION]
    return features.is_reinforcement and any(
        c is not None and c.n and most < c.values[-1] <= 1 for c in rates
    )


def evidence(
    curve: Curve,
    marks: tuple[str, ...],
    *,
    sure: bool,
    short: bool,
    ends: float = threshold(
        0.1, "of the points", "convention", "a reward begins and ends with odd episodes"
    ),
) -> Evidence:
    """The evidence of a curve that ends where it began."""
    start, end = curve.start, curve.end
    if "score" in marks and curve.n >= TREND_PARTS:
        few = int(ends * curve.n)
        start, end = float(median(curve.as_loss[:few])), float(median(curve.as_loss[-few:]))
    return Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        aspects=marks,
        strength=1.0 if sure else 0.5,
        severity="medium" if short else None,
        values={
            "name": curve.name,
            "start": start * curve.sign,
            "end": end * curve.sign,
            "n": curve.n,
        },
        points=(curve.point(0, start), curve.point(-1, end, start)),
    )


def moves(
    curve: Curve,
    moved: float,
    dip: float,
    hidden: float,
    surely: float,
    *,
    climbs: float = threshold(4.0, "x standard error", "theory", "the slope of all points is no noise"),
) -> bool:
    """Whether the level went down (by `moved`, or by less but surely), was lower in between, or went up.
    Raises CannotJudge if noise may hide a fall."""
    fall, error = improvement(curve)
    fell_at_once = float(curve.as_loss[0]) - curve.end  # a level averages such a fall away
    fall = max(fall, fell_at_once) if fell_at_once > 2 * surely * curve.spread else fall
    unsure = max(error, trend_error(curve))
    tilt = slope(curve.as_loss)
    if tilt.change > max(dip, climbs * tilt.error) and not rises(curve):
        return True  # it got worse, point by point
    if fall > moved or (
        fall > moved / 4 and (fall > surely * unsure > 0 or falls(curve, fall > surely * error))
    ):
        return True
    if curve.start - curve.best > max(dip, surely * unsure) or fall < -max(dip, surely * error):
        return True
    if error > hidden:
        raise CannotJudge("its noise could hide an improvement")
    return False


def falls(
    curve: Curve,
    ends: bool,
    *,
    clear: float = threshold(4.0, "x standard error", "theory", "the slope of all points is no noise"),
) -> bool:
    """Whether all points together fall, if the `ends` of the run do."""
    tilt = slope(curve.as_loss)
    return ends and -tilt.change > clear * tilt.error > 0


def flat_score(
    features: Features, curve: Curve, many: float, surely: float, some: float, same: float
) -> Iterator[Evidence]:
    """A reward or another score that gained nothing compared with its own scatter, neither at the end nor in
    between. A score has no zero, so its level cannot be the unit. With fewer points than `many`, no third
    may be better than the first. Where answers are counted, too, a reward near zero says less."""
    fall, error = improvement(curve)
    scatter = float(np.std(curve.values))
    if 4 <= curve.n < some and float(np.ptp(curve.values)) < same * abs(float(np.mean(curve.values))):
        yield evidence(curve, ("score",), sure=False, short=True)
    if some <= curve.n < many:
        thirds = [float(np.mean(part)) for part in np.array_split(curve.as_loss, 3)]
        if thirds[0] - min(thirds) < scatter / 2 and scatter < abs(float(np.mean(curve.values))) / 2:
            yield evidence(curve, ("score",), sure=False, short=True)
        return
    best = block_medians(curve.as_loss, TREND_PARTS // 2)
    gained = float(best[0] - best.min())
    wander = (
        float(np.std(np.diff(best))) / 2**0.5
    )  # running means of episodes hardly differ from their neighbours
    if curve.n < many or fall > max(2 * wander, min(surely * error, scatter / 2)) or gained > scatter:
        return
    # Rewards less their mean are about zero however good the answers are.
    answered = any(features.curve(f"{split}/accuracy") is not None for split in ("train", "val"))
    centred = answered and abs(float(np.mean(curve.values))) < scatter
    yield evidence(
        curve, ("score",), sure=False, short=centred and curve.values.min() < 0 < curve.values.max()
    )


def rises(
    curve: Curve,
    *,
    much: float = threshold(0.05, "of the first third", "convention", "visible in a plot"),
) -> bool:
    """Whether the first value is the best, and the last third is clearly above the first one."""
    third = max(1, curve.n // 3)
    first, last = (float(median(part)) for part in (curve.values[:third], curve.values[-third:]))
    return bool(curve.n > 3 and curve.values[0] == curve.values.min() and last - first > much * abs(first))


def trend_error(curve: Curve) -> float:
    """Standard error of the difference between two levels of the trend."""
    return median_error(curve.noise, max(3, curve.n // TREND_PARTS) / 2)


def another_improves(features: Features, curve: Curve, clearly: float, share: float) -> bool:
    """Whether another measure of success on training or validation data clearly improved. Where no total is
    logged, another part of the loss is such a measure, except a divergence, which others pull against."""
    part = curve.sign > 0 and curve.name not in ("train/loss", "val/loss")
    for name in features.run.series:
        if name == curve.name or not name.startswith(("train/", "val/")) or words_of(name) & DIVERGENCES:
            continue
        other = features.curve(name)
        if other is None or other.n < 4 or not (other.sign < 0 or (part and "loss" in name)):
            continue
        gained, error = improvement(other)
        if gained > clearly * error and gained > share * max(abs(other.end), abs(other.start)):
            return True
    return False


def aspects(features: Features, curve: Curve, level: float, constant: bool, tiny: float) -> Iterator[str]:
    if constant:
        yield "never-moved"
    elif curve.n > 3 and np.ptp(curve.values[1:]) == 0:
        yield "froze"
    elif curve.name.endswith("loss") and rises(curve):
        yield "rose"
    if curve.name.endswith("loss"):
        yield "at-chance" if chance_classes(level, features.run.setup.classes) else "above-chance"
    lr, norm = features.curve("lr"), features.curve("grad_norm")
    if lr is not None and lr.n and float(np.max(np.abs(lr.values))) == 0:
        yield "lr-zero"
    if norm is not None and norm.n:
        yield "norm-tiny" if float(median(norm.values)) < tiny * max(1.0, level) else "norm-healthy"
