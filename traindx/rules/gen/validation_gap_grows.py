"""GEN001: the held-out loss rises from a visible minimum while the training loss does not."""

from typing import NamedTuple

from traindx.features.curves.generalization import Rise, rise_after_low
from traindx.features.curves.score_scales import best_skill, scale_of
from traindx.features.curves.signal_pairs import Pair, pairs, score
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    Severity,
    median,
    np,
    rule,
    threshold,
)


class Seen(NamedTuple):
    """A rise with its sizes: `relative` to the lowest level, `lost` as share of the improvement made before."""

    pair: Pair
    rise: Rise
    train: Floats
    relative: float
    lost: float


@rule(
    code="GEN001",
    needs=("val/*", "train/*"),
    min_points=1,
    severity="medium",
    message="{signal} {moved} from {low:.4g} {near} step {at:.6g} to {end:.4g} while {other} went from "
    "{then:.4g} to {now:.4g}",
    follows=("train-and-validation-overlap",),
)
def validation_gap_grows(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(4.0, "x the held-out curve's own noise", "theory", "4 sigma: 1 in 30,000"),
    relative: float = threshold(0.05, "of the lowest level", "seed", "train-validation gap > 5 %"),
    lost: float = threshold(0.1, "of the improvement", "convention", "the same, free of the loss's zero"),
    least: float = threshold(0.01, "of the improvement", "convention", "losses that fell to almost zero"),
    shared: float = threshold(0.25, "of the rise", "convention", "training rises along: divergence"),
    order: float = threshold(0.6, "Kendall's tau, where points are few", "theory", "5 in order: 1 in 120"),
    strong: float = threshold(0.5, "of the level or improvement", "convention", "half of it is gone"),
    mild: float = threshold(0.1, "of the level or improvement", "convention", "usual early stopping"),
    wide: float = threshold(3.0, "x the training loss", "seed", "a gap below 2x is tolerable"),
    huge: float = threshold(10.0, "x the training loss", "convention", "another task, or learned by heart"),
    apart: float = threshold(0.15, "of accuracy", "convention", "beyond usual augmentation and dropout"),
    torn: float = threshold(0.4, "of accuracy", "convention", "hardly anything carries over"),
) -> Iterator[Evidence]:
    """Validation gets worse after its best point while training does not.

    ## What it sees
    A validation curve that rises from its minimum and stays up, while the training curve does not rise with
    it. The rise must exceed 4 times the noise of the curve (its scatter around the best falling-then-rising
    curve) and reach 5 % of the lowest level or 10 % of the improvement made before. The training curve may
    rise by at most a quarter as much. Severity is medium; low if the rise is below 10 %; high if half of the
    level or of the improvement is gone.

    Two weaker signs are reported if validation does not rise:

    - `stalled`: validation has not improved for half of the run while the training loss fell to a third of
      it or less (low; medium from a tenth).
    - `wide`: the validation loss is at least 3 times the training loss, or the accuracy at least 0.15 lower,
      and the gap does not close (low; medium from 10 times or 0.4). If a validation score is within 0.15 of
      perfect, the ratio of the losses stays low, because a training loss near zero makes any ratio large.

    A gap that grows while validation still improves is not reported.

    ## Why it matters
    After the minimum the network learns what holds for its training data only. The weights at the minimum
    are the better ones.

    ## When it is wrong
    Accuracy may improve while the validation loss rises: the finding is then low and has the aspect
    `metric-improves`. In grokking and double descent the rise is reversed later. A validation set of a few
    dozen samples drifts by chance.

    ## What to try
    Restore the checkpoint of the minimum, or use early stopping. Then add weight decay, dropout or
    augmentation, get more data, or use a smaller model.

    ## Sources
    Prechelt (1998), Early stopping - but when?, doi:10.1007/3-540-49430-8_3. Zhang et al. (2017),
    Understanding deep learning requires rethinking generalization, arXiv:1611.03530. Noise: Ayer et al.
    (1955), isotonic regression, doi:10.1214/aoms/1177728423.
    """
    candidates = pairs(features, min_points=4)
    few = [p for p in pairs(features, min_points=1) if p.same]
    if features.is_reinforcement or not (candidates or few):
        raise CannotJudge("needs a metric on training and held-out data")
    seen = [s for p in candidates if (s := look(p)) is not None]
    seen = [
        s
        for s in seen
        if grew(s, noise, relative, lost, least) and lasts(s.rise, order) and alone(s, shared)
    ]
    losses = [s for s in seen if "loss" in s.pair.val.name]
    if not losses and 2 * len(seen) < len(candidates):
        seen = []  # of many scores (one a class) some get worse while most improve
    for worst in sorted(losses or seen, key=lambda s: -max(s.lost, min(s.relative, 1)))[:1]:
        yield tell(worst, improves(features, worst), strong, mild, lost)
    if seen:
        return
    huge = np.inf if carries_over(features, apart) else huge
    level = [e for p in candidates[:1] if (e := stalled(p, wide, huge, relative)) is not None]
    level += [e for p in few if (e := stands(features, p, (wide, huge, apart, torn), relative)) is not None]
    yield from level[:1]


def look(pair: Pair) -> Seen | None:
    rise = rise_after_low(pair.val.oriented)
    if rise is None:
        return None
    train = pair.train_at_val()
    improvement = max(rise.first - rise.low, pair.train.span if pair.same else 0)
    level = abs(rise.low) if np.sign(pair.val.oriented).min() == np.sign(pair.val.oriented).max() else np.inf
    tiny = np.finfo(np.float64).tiny
    with np.errstate(over="ignore"):  # a rise out of nothing is infinitely many times it
        return Seen(pair, rise, train, rise.size / max(level, tiny), rise.size / max(improvement, tiny))


def grew(
    seen: Seen,
    noise: float,
    relative: float,
    lost: float,
    least: float,
    *,
    visible: float = threshold(0.3, "of the lowest level", "convention", "a rise that one sees"),
    ranked: float = threshold(0.95, "of the pairs, U", "theory", "3 of 3 above 3 of 3: 1 in 20"),
) -> bool:
    """Whether the rise is beyond noise (or so large that the last third lies above nearly all around the low) and
    large enough to matter; two points must show more than many."""
    large = seen.relative >= visible and seen.rise.apart >= ranked  # however much it scatters
    if seen.rise.after < 2 or (seen.rise.z < noise and not large) or seen.lost < least:
        return False
    if 0 < seen.relative < 2 * least:  # a rise of a level that hardly ever moved
        return False
    factor = 2 if seen.rise.after == 2 else 1
    return seen.lost >= factor * lost or seen.relative >= factor * relative


def lasts(rise: Rise, order: float) -> bool:
    """Whether the later points stay up, and rise in order where there are too few to speak of a level."""
    stays = rise.share_kept >= 0.5 and rise.above >= 0.5
    return stays and (rise.order >= order or rise.after > 4)


def alone(seen: Seen, shared: float) -> bool:
    """Whether the training curve does not rise along."""
    then, now = ends(seen)
    unit = seen.rise.size if seen.pair.same else seen.pair.train.span
    below = not seen.pair.same or now < seen.rise.end
    return bool(now - then <= shared * unit and below)


def ends(seen: Seen) -> tuple[float, float]:
    """Training level (oriented) at the held-out minimum and at the end."""
    tail = seen.train[-max(1, min(len(seen.train) // 3, len(seen.train) - seen.rise.at - 1)) :]
    return float(seen.train[seen.rise.at]), float(median(tail))


def improves(
    features: Features,
    seen: Seen,
    *,
    worth: float = threshold(0.05, "of what was missing", "convention", "a twentieth fewer errors"),
) -> bool:
    """Whether a held-out score still gets better after the minimum of the loss, beyond its noise and by a part of what
    it lacked then that counts."""
    metric = score(features, "val/")
    if metric is None or metric is seen.pair.val or metric.n < 4:
        return False
    start = int(np.searchsorted(metric.steps, seen.pair.val.step_at(seen.rise.at)))
    if start >= metric.n:
        return False
    then, scale = float(metric.trend[start]), scale_of(metric.name, metric.values)
    missing = 0.0 if scale is None else abs(then - scale.perfect * metric.sign)
    return bool(metric.end < then - max(metric.noise, worth * missing))


def carries_over(features: Features, apart: float) -> bool:
    """Whether a held-out score lies so close to perfect that no wide gap of scores is left: a training loss of almost
    nothing makes any ratio of losses large."""
    return best_skill(features, ("val/",)) > 1 - apart


def stalled(pair: Pair, wide: float, huge: float, least: float) -> Evidence | None:
    """Held-out loss level over the second half of the run while the training loss falls far below it."""
    val, train = pair.val.oriented, pair.train_at_val()
    half = len(val) // 2
    if not pair.same or len(val) < 4 or min(val.min(), train.min()) <= 0:
        return None
    if len(val) < 4 * 4:
        return unmoved(pair, val, train, least)
    quarter = half // 2
    before, after = float(median(val[half - quarter : half + 1])), float(median(val[-quarter:]))
    then, now = float(median(train[half - quarter : half + 1])), float(median(train[-quarter:]))
    gain, fall = (before - after) / before, (then - now) / then
    if gain > 2 * least or fall < max(wide * gain, least) or after < wide * now:
        return None
    low = int(np.argmin(val[: half + 1]))
    best = low if val[low] == val.min() else half
    words = "not" if best == low else "hardly"
    at, last = pair.val.step_at(best), pair.val.step_at(pair.val.n - 1)
    return Evidence(
        onset=at,
        last=last,
        where=pair.val.name,
        strength=0.5,
        severity="medium" if after >= huge * now else "low",
        aspects=("stalled",),
        message=f"{pair.val.name} has {words} improved since step {at:g} ({val[best]:.4g}) and is "
        f"{after / now:.2g} times {pair.train.name}, which still falls",
        points=(
            EvidencePoint(pair.val.name, last, after, before),
            EvidencePoint(pair.train.name, last, now, then),
        ),
    )


def unmoved(pair: Pair, val: Floats, train: Floats, least: float) -> Evidence | None:
    """The held-out loss of a few evaluations is where it was at the first, and training has fallen below it."""
    # The first epoch's mean holds the descent from the start, which validation saw only the end of.
    fall = 1 - float(train[-1]) / float(train[1])
    if np.ptp(val) > least * float(val[0]) or fall < 3 * least or train[-1] > (1 - least / 2) * val[-1]:
        return None
    at, last = pair.val.step_at(0), pair.val.step_at(pair.val.n - 1)
    return Evidence(
        onset=at,
        last=last,
        where=pair.val.name,
        strength=0.5,
        severity="low",
        aspects=("stalled",),
        message=f"{pair.val.name} stays at {float(val[-1]):.4g} in {len(val)} evaluations while {pair.train.name} "
        f"goes from {float(train[1]):.4g} to {float(train[-1]):.4g}",
        points=(EvidencePoint(pair.val.name, last, float(val[-1]), float(val[0])),),
    )


def stands(
    features: Features, pair: Pair, bounds: tuple[float, float, float, float], part: float
) -> Evidence | None:
    """A wide gap between the two at the end that validation is not about to close."""
    wide, huge, apart, torn = bounds
    scale = scale_of(pair.val.name, pair.val.values)
    val, train = ending(pair.val.values), ending(pair.train.values)
    if scale is not None and pair.val.sign < 0:
        gap = (train - val) / scale.perfect
        large, grave = gap >= apart, gap >= torn
        told = f"{pair.val.name} is {val:.4g} beside {train:.4g} of {pair.train.name}"
    else:
        floor = features.floor(pair.val.name)
        if pair.val.name.rpartition("/")[2] != "loss" or min(val, train) <= floor:
            return None
        ratio = val / train
        large, grave = ratio >= wide, ratio >= huge
        told = f"{pair.val.name} is {val:.4g}, {ratio:.2g} times {pair.train.name} ({train:.4g})"
    if not large or improving(pair, part):
        return None
    last = float(pair.val.steps[-1])
    return Evidence(
        onset=float(pair.val.steps[0]),
        last=last,
        where=pair.val.name,
        strength=1.0 if grave else 0.5,
        severity="medium" if grave else "low",
        aspects=("wide", *(["strong"] if grave else [])),
        message=f"{told}, and the gap does not close",
        points=(EvidencePoint(pair.val.name, last, val, train),),
    )


def ending(values: Floats) -> float:
    """The level at the end: the median of the last twentieth, of three points at least."""
    return float(median(values[-max(3, len(values) // (4 * 4)) :]))


def improving(pair: Pair, part: float) -> bool:
    """Whether validation still gets better over its last half, by more than `part` of its level."""
    y = pair.val.oriented
    if len(y) < 3:
        return False
    if len(y) < 4 * 2:
        return bool(np.all(np.diff(y[-3:]) < 0))
    third = max(1, len(y) // (2 * 3))
    before, end = float(median(y[len(y) // 2 :][:third])), float(median(y[-third:]))
    return before - end > part * abs(end)


def turn_of(
    seen: Seen,
    *,
    near: float = threshold(2, "points from the turn", "convention", "the fit's own step"),
    close: float = threshold(0.02, "of the run from the turn", "convention", "the same in a long run"),
) -> tuple[int, bool]:
    """Where a rise begins, and whether that is the lowest value of all: it is where that lies near the turn."""
    lowest, n = int(np.argmin(seen.pair.val.oriented)), seen.pair.val.n
    exact = abs(lowest - seen.rise.at) <= max(near, close * n)  # else a lone value far from the turn
    return lowest if exact else seen.rise.at, exact


def tell(seen: Seen, metric_improves: bool, strong: float, mild: float, lost: float) -> Evidence:
    """What is told of a rise."""
    pair, rise = seen.pair, seen.rise
    _, now = ends(seen)
    severity: Severity = "medium"
    if metric_improves or max(seen.relative, seen.lost) < mild:
        severity = "low"
    elif seen.lost >= strong or (seen.relative >= strong and seen.lost >= lost):
        severity = "high"
    sign, other = pair.val.sign, pair.train.sign
    turn, exact = turn_of(seen)
    then = float(seen.train[turn])
    at, last = pair.val.step_at(turn), pair.val.step_at(pair.val.n - 1)
    low = float(pair.val.values[turn])
    # The level at the end: a median, or the last of a few points.
    end = rise.end * sign if pair.val.n > 2 * 4 else float(pair.val.values[-1])
    return Evidence(
        onset=at,
        last=last,
        where=pair.val.name,
        strength=float(np.clip(max(min(seen.lost, 1), min(seen.relative, 1)) / strong, 0.5, 1)),
        aspects=("strong",) * (severity == "high") + ("metric-improves",) * metric_improves,
        severity=severity,
        values={
            "signal": pair.val.name, "moved": "rose" if sign > 0 else "fell", "near": "at" if exact else "around",
            "low": low, "at": at, "end": end, "other": pair.train.name, "then": then * other, "now": now * other,
        },
        points=(
            EvidencePoint(pair.val.name, at, low),
            EvidencePoint(pair.val.name, last, end, low),
            EvidencePoint(pair.train.name, at, then * other),
            EvidencePoint(pair.train.name, last, now * other, then * other),
        ),
    )  # fmt: skip
