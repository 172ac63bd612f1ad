"""The shape of a learning-rate trace: jumps, warm-up, restarts, stretches of nothing."""

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Floats, threshold

FLOOR = 1e-4  # of the peak: rates below it do next to nothing


def traces(features: Features) -> list[Curve]:
    """The learning-rate signals with finite points: `lr` first, then the groups by name."""
    names = [n for n in features.run.series if n == "lr" or n.startswith("lr/")]
    return [c for c in [features.curve(n) for n in sorted(names)] if c is not None and c.n]


class Jump(msgspec.Struct, frozen=True):
    """Between points `at - 1` and `at` the rate changes by `factor` (new over old, at most 1e4 either
    way)."""

    at: int
    before: float
    after: float
    factor: float


def jumps(rates: Floats, *, up: float, down: float) -> list[Jump]:
    """Changes of `rates[n]` by a factor of `up` and more, or of `1 / down` and less, from one point to the
    next, that exceed the changes on both sides: a steep decay, a cycle logged sparsely or a linear warm-up
    have none."""
    if len(rates) < 3 or rates.max() <= 0:
        return []
    floored = np.maximum(rates, FLOOR * rates.max())
    large = (floored[1:] >= up * floored[:-1]) | (floored[:-1] >= down * floored[1:])
    found = []
    for i in np.flatnonzero(large).tolist():
        near = slice(max(i - 1, 0), i + 3)
        change, steps = np.diff(rates[near]), np.diff(np.log(floored[near]))
        own = i - near.start
        stands_out = abs(change[own]) >= 2.0 * largest_same_direction(change, own)
        if stands_out and (steps[own] > 0 or -steps[own] >= 2.0 * largest_same_direction(steps, own)):
            found.append(Jump(i + 1, float(rates[i]), float(rates[i + 1]), float(np.exp(steps[own]))))
    return found


def largest_same_direction(changes: Floats, own: int) -> float:
    """The largest of the other `changes[n]` that goes the same way as number `own`; 0 where none does."""
    return float((np.delete(changes, own) * np.sign(changes[own])).max(initial=0.0))


def warmup_end(rates: Floats) -> int:
    """Index of the last point of the stretch in which `rates[n]` do not fall yet (0.1 % of the peak is no
    fall)."""
    if len(rates) < 2:
        return 0
    falls = np.flatnonzero(np.diff(rates) < -1e-3 * max(float(rates.max()), 0.0))
    return int(falls[0]) if len(falls) else len(rates) - 1


def restarts(rates: Floats, ups: list[Jump]) -> bool:
    """Whether upward jumps are warm restarts: before each one the rate had come down in several steps, none
    of which is most of the way; each leads to no more than the stretch before began with; and the distances,
    where there are several, stay similar or grow. (Loshchilov and Hutter, "SGDR", arXiv:1608.03983.)"""
    begin = int(np.argmax(rates[: ups[0].at])) if ups else 0
    marks = [begin, *(j.at for j in ups)]
    for jump, start in zip(ups, marks[:-1], strict=True):
        stretch = rates[start : jump.at]
        if jump.after > 1.3 * float(stretch[0]) or not comes_down(stretch):
            return False
    lengths = np.diff(marks)[1:] if len(marks) > 3 else np.diff(marks)
    return bool(np.all(lengths[1:] >= 0.75 * lengths[:-1]) and np.all(lengths[1:] <= 4.5 * lengths[:-1]))


def comes_down(stretch: Floats) -> bool:
    """Whether `stretch[n]` falls to half or less in several steps."""
    total = float(stretch[0] - stretch[-1])
    if len(stretch) < 3 or total < 0.5 * float(stretch[0]):
        return False
    return bool(-np.diff(stretch).min() <= 0.75 * total)


class Stretch(msgspec.Struct, frozen=True):
    """Points `start` up to (not with) `stop`."""

    start: int
    stop: int

    @property
    def length(self) -> int:
        return self.stop - self.start


def coarsely_printed(rates: Floats) -> bool:
    """Whether the zeros of `rates[n]` may only be small numbers printed with few digits: all rates are fewer
    than 100 units of 1e-3, 1e-4 ... 1e-8, and the smallest ones a unit or a few. Units of 0.01 and 0.1 are also
    plain rates, so there the rate has to climb or fall through three values, a unit at a time. True for nothing
    but zeros."""
    positive = rates[rates > 0]
    if not len(positive):
        return True
    least, most = positive.min(), positive.max()
    for unit in 10.0 ** -np.arange(1, 9):
        whole = (rates / unit).round()
        if most / unit >= 99.5 or least / unit >= 3.5 or np.abs(rates / unit - whole).max() >= 1e-6:
            continue
        if unit < 5e-3 or (len(np.unique(whole)) > 3 and np.abs(np.diff(whole)).max() <= 1):
            return True
    return False


def vanishes_at(rates: Floats, share: float) -> int:
    """Index from which on `rates[n]` stay below `share` of their peak; n where the last one does not."""
    above = np.flatnonzero(rates >= share * rates.max())
    return int(above[-1]) + 1 if len(above) else 0


def describe_loss_since(
    features: Features,
    low: float,
    top: float,
    *,
    much: float = threshold(0.1, "of what was gained", "convention", "visible in a plot"),
    sure: float = threshold(4.0, "x noise", "theory", "1 in 30,000"),
) -> str:
    """How much worse the objective is at the step `top` than at `low`, between which a rate climbed or a batch size
    changed, in words; "" for little or for noise."""
    curve = features.objective
    if curve is None or curve.n < 3:
        return ""
    old = curve.as_loss[curve.steps <= low][-4:]
    new = curve.as_loss[curve.steps <= top][-4:]
    if not len(old) or not len(new):
        return ""
    best, end = float(median(old)), float(median(new))
    if end - best <= max(sure * curve.noise, much * max(curve.start - best, 0.0)):
        return ""
    return (
        f", and {curve.name} went from {best * curve.sign:.4g} to {end * curve.sign:.4g} with it (medians)"
    )
