"""GEN001 validation-gap-grows."""

import msgspec

from traindx.features.curves import generalization as curves
from traindx.features.curves.signal_pairs import differ_in_unit, samples_behind, tested
from traindx.rules.api import Evidence, Features, Iterator, Pair, Run, api, median, np, rule, threshold


class Seen(msgspec.Struct, frozen=True):
    """A rise with its sizes: `relative` to the lowest level, `lost` as share of the improvement before."""

    pair: Pair
    rise: curves.Rise
    train: api.Floats
    relative: float
    lost: float


@rule(
    code="GEN001",
    needs=("val/*", "train/*"),
    min_points=1,
    severity="medium",
    persistence="slow",
    message="{signal} {moved} from {low:.4g} {near} step {at:g} to {end:.4g} while {other} {course}{ends}",
    follows=("train-and-validation-overlap",),
)
def validation_gap_grows(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(4.0, "x the noise of the validation curve", "theory", "4 sigma: 1 in 30,000"),
    relative: float = threshold(0.05, "of the lowest level", "measured", "a gap above 5 % is visible"),
    lost: float = threshold(0.1, "of the improvement", "measured", "the same for losses without a zero"),
    least: float = threshold(0.01, "of the improvement", "measured", "less does not matter"),
    shared: float = threshold(0.25, "of the rise", "convention", "if training rises too, it is divergence"),
    order: float = threshold(0.6, "Kendall's tau, where points are few", "theory", "5 in order: 1 in 120"),
    strong: float = threshold(0.5, "of the level or improvement", "convention", "half of it is lost"),
    mild: float = threshold(0.1, "of the level or improvement", "measured", "early stopping allows less"),
    wide: float = threshold(3.0, "x the training loss", "measured", "a gap below 2x is usual"),
    huge: float = threshold(10.0, "x the training loss", "convention", "another task, or memorized"),
    apart: float = threshold(0.15, "of accuracy", "convention", "more than augmentation and dropout cause"),
    torn: float = threshold(0.4, "of accuracy", "measured", "almost nothing generalizes"),
) -> Iterator[Evidence]:
    """Validation gets worse after its best point while training does not.

    ## What it sees
    A validation curve that rises from its minimum and stays up while the training curve rises by at most a
    quarter as much. The rise must exceed 4 times the noise of the curve (its scatter around the best
    falling-then-rising curve), and reach 5 % of the lowest level or 10 % of the improvement made before.
    Severity is medium; low if the rise is below 10 %; high if half of the level or improvement is gone; info if it
    is a part of a loss that does not rise.

    Of three evaluations, each must be worse than the one before, by 10 % together, while training falls by more
    (low). Of two, the loss must rise and training fall by half (low). Otherwise two weaker signs are reported:

    - `stalled_evidence`: validation has not improved for half of the run while the training loss fell to a third of
      it (a half, if it fell by a quarter meanwhile) or less (low; medium from a tenth).
    - `wide`: the gap at the end does not close. The validation loss is at least 3 times the training loss
      (medium: 10 times), or the accuracy 0.15 lower (medium: 0.4, or 0.3 in a single evaluation where training
      is perfect). Within 0.15 of a perfect score, the ratio of the losses stays low. The scores of a validation and
      of a test set are compared in the same way.

    A gap that grows while validation still improves is no fault and is not reported.

    ## Why it matters
    After the minimum the network learns what holds for its training data only. The weights there are better.

    ## When it is wrong
    Accuracy may improve while the validation loss rises: the finding is then low (medium if the loss ends worse
    than it began), aspect `metric-improves`. In grokking and double descent it falls again. A small set drifts.

    ## What to try
    Restore the checkpoint of the minimum, or use early stopping. Then add weight decay, dropout or
    augmentation, get more data, or use a smaller model.

    ## Sources
    Prechelt (1998), Early stopping - but when?, doi:10.1007/3-540-49430-8_3. Zhang et al. (2017), Understanding
    deep learning requires rethinking generalization, arXiv:1611.03530. Noise: isotonic regression, Ayer et al.
    (1955), doi:10.1214/aoms/1177728423.
    """
    candidates = api.pairs(features, min_points=4)
    few = [p for p in api.pairs(features, min_points=1) if p.same]
    if features.is_reinforcement or features.is_game or not (candidates or few):
        raise api.CannotJudge("needs a metric on training and validation data")
    seen = [s for p in candidates if (s := measured_rise(p)) is not None]
    bars, sizes = (noise, relative, lost, least), (strong, mild, lost)
    seen = [s for s in seen if gets_worse(s, bars, order) and rises_alone(s, shared)]
    risen, parts = worst_rise(seen, candidates)
    signs: list[Evidence | None] = [
        evidence(s, improves(features, s), score_holds(features, s, order), parts, *sizes) for s in risen
    ]
    # Near a perfect score a training loss near zero makes any ratio of losses large.
    huge = np.inf if api.best_skill(features, ("val/",)) > 1 - apart else huge
    if not risen:
        signs = [each_time(p, relative, strong) for p in few[: not candidates]]
        signs += [stalled_evidence(p, wide, huge, relative) for p in candidates[:1]]
    if not run.boosted:  # trees fit their samples ever closer, also where validation stays at its best
        far = [p for p in few if not risen or p.val.sign < 0]
        far += tested(features)
        signs += [wide_gap(features, p, (wide, huge, apart, torn), relative) for p in far]
    yield from sorted(filter(None, signs), key=lambda s: api.SEVERITIES.index(s.severity or "low"))[:1]


def worst_rise(seen: list[Seen], candidates: list[Pair]) -> tuple[list[Seen], bool]:
    """The largest of the rises, if any, losses first, and whether it is that of a part while the whole does not rise.
    Of many scores (one per class) some get worse while most improve."""
    losses = [s for s in seen if "loss" in s.pair.val.name]
    if not losses and 2 * len(seen) < len(candidates):
        return [], False
    whole = {p.val.name for p in candidates} - {s.pair.val.name for s in seen}
    risen = sorted(losses or seen, key=lambda s: -max(s.lost, min(s.relative, 1)))
    return risen[:1], bool(losses) and "val/loss" in whole


def measured_rise(pair: Pair) -> Seen | None:
    rise = curves.rise_after_low(pair.val.as_loss)
    if rise is None:
        return None
    train = pair.train_at_val()
    scale = api.scale_of(pair.val.name, pair.val.values)
    nothing = 0.0 if scale is None else abs(rise.low * pair.val.sign - (scale.nothing or 0.0))
    # A score that is best at the first evaluation had improved before it.
    improvement = max(rise.first - rise.low, pair.train.span if pair.same else 0) or nothing
    level = abs(rise.low) if np.sign(pair.val.as_loss).min() == np.sign(pair.val.as_loss).max() else np.inf
    tiny = np.finfo(np.float64).tiny
    with np.errstate(over="ignore"):  # a rise from zero has an infinite ratio
        return Seen(pair, rise, train, rise.size / max(level, tiny), rise.size / max(improvement, tiny))


def is_clear_rise(
    seen: Seen,
    noise: float,
    relative: float,
    lost: float,
    least: float,
    *,
    visible: float = threshold(0.3, "of the lowest level", "convention", "visible in a plot"),
    ranked: float = threshold(0.95, "of the pairs, U", "theory", "3 of 3 above 3 of 3: 1 in 20"),
    doubled: float = threshold(1.0, "of the lowest level", "convention", "twice the best is no scatter"),
    few: float = threshold(3, "points", "theory", "one or two high evaluations may be outliers"),
    sorted_: float = threshold(0.8, "Kendall's tau", "theory", "5 or more in order: 1 in 120"),
) -> bool:
    """Whether the rise is beyond noise (or in order, or so large that the last third is above nearly all points around
    the low, or that all of a few are far above it) and large enough to matter; two points must show more
    than many."""
    ordered = seen.rise.order >= sorted_ and seen.rise.after > 4 and seen.relative >= relative
    large = (seen.relative >= visible or ordered) and seen.rise.apart >= ranked  # even if it scatters much
    if few <= seen.rise.after and doubled <= seen.relative < np.inf:
        later = seen.pair.val.as_loss[seen.rise.at + 1 :]
        large |= bool(later.min() > (1 + visible) * seen.rise.low > 0)
    if seen.rise.after < 2 or (seen.rise.z < noise and not large) or seen.lost < least:
        return False
    if 0 < seen.relative < 2 * least:  # a rise of a level that hardly moved before
        return False
    factor = 2 if seen.rise.after == 2 else 1
    return seen.lost >= factor * lost or seen.relative >= factor * relative


def gets_worse(seen: Seen, bars: tuple[float, float, float, float], order: float) -> bool:
    """Whether a rise is clear and stays."""
    return far_above(seen) or (is_clear_rise(seen, *bars) and rise_lasts(seen.rise, order))


def far_above(
    seen: Seen,
    *,
    doubled: float = threshold(1.0, "of the lowest level", "convention", "twice the best is no scatter"),
    visible: float = threshold(0.3, "of the lowest level", "convention", "visible in a plot"),
    few: float = threshold(3, "points", "theory", "one or two high evaluations may be outliers"),
) -> bool:
    """Whether every later value is far above the lowest one, however much they scatter among themselves."""
    later, low = seen.pair.val.as_loss[seen.rise.at + 1 :], seen.rise.low
    enough = seen.rise.after >= few and doubled <= seen.relative < np.inf
    return enough and bool(later.min() > (1 + visible) * low > 0)


def rise_lasts(rise: curves.Rise, order: float) -> bool:
    """Whether the later points stay up, and rise in order if there are too few for a level."""
    stays = rise.share_kept >= 0.5 and rise.above >= 0.5
    return stays and (rise.order >= order or rise.after > 4)


def rises_alone(seen: Seen, shared: float) -> bool:
    """Whether the training curve does not rise too."""
    then, now = ends(seen)
    unit = seen.rise.size if seen.pair.same else seen.pair.train.span
    below = not seen.pair.same or now < seen.rise.end
    return bool(now - then <= shared * unit and below)


def ends(seen: Seen) -> tuple[float, float]:
    """Training level (oriented) at the validation minimum and at the end."""
    tail = seen.train[-max(1, min(len(seen.train) // 3, len(seen.train) - seen.rise.at - 1)) :]
    return float(seen.train[seen.rise.at]), float(median(tail))


def improves(
    features: Features,
    seen: Seen,
    *,
    worth: float = threshold(0.05, "of what was missing", "convention", "5 % fewer errors"),
) -> bool:
    """Whether a validation score improves after the minimum of the loss, beyond its noise and by a visible
    part of what it lacked then: one sample more does not make up for a loss that has trebled."""
    metric = api.score(features, "val/")
    if metric is None or metric is seen.pair.val or metric.n < 4:
        return False
    start = int(np.searchsorted(metric.steps, seen.pair.val.step_at(seen.rise.at)))
    if start >= metric.n:
        return False
    then, scale = float(metric.trend[start]), api.scale_of(metric.name, metric.values)
    missing = 0.0 if scale is None else abs(then - scale.perfect * metric.sign)
    return bool(metric.end < then - max(metric.noise, worth * missing * (1 + min(seen.relative, seen.lost))))


def each_time(pair: Pair, least: float, half: float) -> Evidence | None:
    """A validation loss that rises at each of three evaluations of a short fine-tuning, or by much in two."""
    val, train = pair.val.as_loss, pair.train.as_loss
    if len(val) not in (2, 3) or len(train) < 2 or min(val.min(), train.min()) <= 0:
        return None
    rises, fall = np.diff(val) / val[:-1], 1 - float(train[-1] / train[0])
    enough, clear = (2 * least, 4 * least) if len(val) == 3 else (half, half)  # two show no trend
    if rises.min() <= 0 or rises.sum() < enough or fall < max(clear, min(rises.sum(), 1 - least)):
        return None
    last = pair.val.point(-1)
    return Evidence(
        onset=pair.val.step_at(0), last=last.step, where=pair.val.name, strength=0.5, severity="low",
        points=(last, pair.train.point(-1)),
        message=f"{pair.val.name} rose from {val[0]:.4g} to {val[-1]:.4g} while {pair.train.name} fell",
    )  # fmt: skip


def stalled_evidence(
    pair: Pair, wide: float, huge: float, least: float,
    *, apart: float = threshold(2.0, "x the training loss", "convention", "enough if it fell by a quarter"),
) -> Evidence | None:  # fmt: skip
    """A validation loss that is level over the second half of the run while the training loss falls far
    below it."""
    val, train = pair.val.as_loss, pair.train_at_val()
    half = len(val) // 2
    if not pair.same or len(val) < 4 or min(val.min(), train.min()) <= 0:
        return None
    if len(val) < 4 * 4:
        return unmoved_evidence(pair, val, train, least)
    quarter = half // 2
    before, after = float(median(val[half - quarter : half + 1])), float(median(val[-quarter:]))
    then, now = float(median(train[half - quarter : half + 1])), float(median(train[-quarter:]))
    gain, fall = (before - after) / before, (then - now) / then
    wide = apart if fall >= 1 / 4 and gain <= least else wide
    if gain > 2 * least or fall < max(wide * gain, least) or after < wide * now:
        return None
    low = int(np.argmin(val[: half + 1]))
    best, change = (low, "has not") if val[low] == val.min() else (half, "has hardly")
    at, last = pair.val.step_at(best), pair.val.step_at(pair.val.n - 1)
    return Evidence(
        onset=at, last=last, where=pair.val.name, strength=0.5, aspects=("stalled",),
        severity="medium" if after >= huge * now else "low",
        message=f"{pair.val.name} {change} improved since step {api.format_step(at)} ({val[best]:.4g}) and is "
        f"about {after / now:.2g} times {pair.train.name}, which still falls",
        points=(pair.val.point(-1, after, before), pair.train.point(-1, now, then)),
    )  # fmt: skip


def unmoved_evidence(pair: Pair, val: api.Floats, train: api.Floats, least: float) -> Evidence | None:
    """A validation loss that did not change in a few evaluations, or was best in the first half of them, while
    training fell below it."""
    # The training mean of the first epoch contains the first descent, of which validation saw only the end.
    fall = 1 - float(train[-1]) / float(train[1])
    level = np.ptp(val) <= least * val[0] and fall >= 3 * least and train[-1] <= (1 - least / 2) * val[-1]
    low = 1 if level else curves.best_long_ago(val, train)
    if low is None:
        return None
    at, last, name = pair.val.step_at(0 if level else low), pair.val.step_at(pair.val.n - 1), pair.val.name
    stayed = f"{name} stayed at {val[-1]:.4g} in {len(val)} evaluations"
    best = f"{name} was best at step {api.format_step(at)} ({val[low]:.4g}) and is {val[-1]:.4g} now,"
    return Evidence(
        onset=at, last=last, where=name, strength=0.5, severity="low", aspects=("stalled",),
        message=f"{stayed if level else best} while {pair.train.name} fell from about {train[low]:.4g} to {train[-1]:.4g}",
        points=(api.EvidencePoint(name, last, float(val[-1]), float(val[0 if level else low])),),
    )  # fmt: skip


def wide_gap(
    features: Features, pair: Pair, bounds: tuple[float, float, float, float], part: float,
    *, full: float = threshold(0.98, "of a perfect score", "convention", "nothing is left to learn"),
) -> Evidence | None:  # fmt: skip
    """A wide gap at the last evaluation that validation does not close."""
    wide, huge, apart, torn = bounds
    scale = api.scale_of(pair.val.name, pair.val.values)
    val, train = curves.final_level(pair.val.values), curves.final_level(pair.trained)
    if scale is not None and pair.val.sign < 0:
        gap = (train - val) / scale.perfect
        memorized = pair.val.n == 1 and train >= full * scale.perfect
        large, grave = gap >= apart, gap >= (2 * apart if memorized else torn)
        sentence = f"{pair.val.name} is {val:.4g} and {pair.train.name} is {train:.4g}"
    else:
        name, floor = pair.val.name, features.floor(pair.val.name)
        if name.rpartition("/")[2] != "loss" or min(val, train) <= floor or differ_in_unit(features):
            return None
        # Losses of single samples are mostly small and sometimes large; validation is their mean.
        train = max(train, float(np.mean(pair.trained[-curves.tail(len(pair.trained)) :])))
        ratio = val / train
        large, grave = ratio >= wide and pair.is_apart(train, val), ratio >= max(huge, 2 * pair.first_ratio)
        sentence = f"{pair.val.name} is {val:.4g}, {ratio:.2g} times {pair.train.name} ({train:.4g})"
    if not large or (pair.still_improves(part) and not features.run.says("validation-gap-grows")):
        return None
    return Evidence(
        onset=float(pair.val.steps[0]), last=float(pair.val.steps[-1]), where=pair.val.name,
        strength=1.0 if grave else 0.5,
        severity="medium" if grave else "low",
        aspects=("test-set" if pair.train.name.startswith("val/") else "wide", *(["strong"] if grave else [])),
        message=f"{sentence} {pair.course(part)}",
        points=(pair.val.point(-1, val * pair.val.sign, train * pair.val.sign),),
    )  # fmt: skip


def start_of_rise(
    seen: Seen,
    *,
    near: float = threshold(2, "points from the turn", "convention", "the resolution of the fit"),
    close: float = threshold(0.02, "of the run from the turn", "convention", "the same in a long run"),
) -> tuple[int, bool]:
    """Where a rise begins, and whether that is the lowest value of all, which must be near the turn."""
    lowest, n = int(np.argmin(seen.pair.val.as_loss)), seen.pair.val.n
    # A lowest value far from the turn is a single outlier.
    exact = abs(lowest - seen.rise.at) <= max(near, close * n)
    return lowest if exact else seen.rise.at, exact


def training_course(seen: Seen, turn: int, outlier: bool) -> tuple[float, float, str]:
    """Training values (oriented) where validation turned and at the end, and what the page calls them: nothing
    where they are those of the log."""
    train = seen.pair.train
    level = float(seen.train[turn]), ends(seen)[1]
    if outlier:
        return (*level, " (medians at the end)")
    if seen.pair.val.n > 2 * 4 and seen.train is not train.as_loss:
        return (*level, " (trend)")  # batch losses scatter too much to be compared
    then, now = train.at_steps(seen.pair.val.steps[[turn, -1]]) * train.sign
    return float(then), float(now), ""


def score_holds(
    features: Features,
    seen: Seen,
    order: float,
    *,
    less: float = threshold(0.03, "of the scale", "convention", "a score that hardly anyone would miss"),
    visible: float = threshold(0.3, "of the lowest loss", "convention", "visible in a plot"),
) -> bool:
    """Whether the validation loss rises a little, and the validation score stays near its best; or whether it goes up
    and down, and is that of a few samples."""
    if seen.rise.order < order and samples_behind(features, "val/") > 0:
        return True
    metric = api.score(features, "val/")
    if metric is None or metric is seen.pair.val or metric.n < 4 or seen.relative >= visible:
        return False
    scale = api.scale_of(metric.name, metric.values)
    less *= 0.0 if scale is None else abs(scale.perfect - (scale.nothing or 0.0))
    return metric.end - float(metric.trend.min()) <= less


def evidence(
    seen: Seen, metric_improves: bool, slight: bool, part: bool, strong: float, mild: float, lost: float, *,
    spent: float = threshold(1.0, "of the improvement", "theory", "the loss is worse than at the start"),
) -> Evidence:  # fmt: skip
    """The evidence of a rise. A score that improves does not excuse a loss that lost all that it had gained."""
    pair, rise = seen.pair, seen.rise
    severity: api.Severity = "medium"
    if (metric_improves and seen.lost < spent) or max(seen.relative, seen.lost) < mild or slight:
        severity = "low"
    elif metric_improves:
        severity = "medium"
    elif seen.lost >= strong or (seen.relative >= strong and seen.lost >= lost):
        severity = "high"
    sign, other = pair.val.sign, pair.train.sign
    turn, exact = start_of_rise(seen)
    at, last = pair.val.step_at(turn), pair.val.step_at(pair.val.n - 1)
    low = float(pair.val.values[turn])  # The last point is clearer than a median, unless it is an outlier.
    outlier = float(pair.val.as_loss[-1]) - low * sign < rise.size / 2
    end = rise.end * sign if outlier else float(pair.val.values[-1])
    then, now, ends_are = training_course(seen, turn, outlier)
    begun = int(np.searchsorted(pair.train.steps, at, side="right")) - 1
    return Evidence(
        onset=at, last=last, where=pair.val.name,
        strength=float(np.clip(max(min(seen.lost, 1), min(seen.relative, 1)) / strong, 0.5, 1)),
        aspects=("strong",) * (severity == "high") + ("metric-improves",) * metric_improves,
        severity="info" if part else severity,
        values={
            "signal": pair.val.name, "moved": "rose" if sign > 0 else "fell", "low": low, "at": at,
            "near": "at" if exact else "around", "end": end, "other": pair.train.name,
            "course": curves.describe_course(then * other, now * other), "ends": ends_are,
        },
        points=(
            pair.val.point(turn), pair.val.point(-1, end * sign, low * sign),
            pair.train.point(max(begun, 0), then), pair.train.point(-1, now, then),
        ),
    )  # fmt: skip
