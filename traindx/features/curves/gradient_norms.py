"""The size of the gradient over time, on a logarithmic scale, and how the objective answers to it."""

from itertools import pairwise

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.performance.level_shifts import start_up, stretches
from traindx.features.shared import Features
from traindx.features.statistics import block_edges, median, quantile, robust_sigma, running_median
from traindx.vocabulary import CannotJudge, Floats


def baseline(logs: Floats) -> Floats:
    """The undisturbed level of `logs[n]`: the lower quartile of up to 64 blocks, smoothed over nine of them
    and raised by the typical distance between quartile and median, so that excursions of several blocks do
    not lift it. Under 40 points the lowest fifth of all, under 8 the lowest."""
    n = len(logs)
    if n < 40:
        return np.full(n, float(quantile(logs, 0.2)) if n >= 8 else float(logs.min()))
    edges = block_edges(n, min(64, n // 5))
    low = np.array([quantile(logs[a:b], 0.25) for a, b in pairwise(edges)])
    base = np.interp(np.arange(n), (edges[:-1] + edges[1:] - 1) / 2, running_median(low, 9))
    return base + max(float(median(logs - base)), 0.0)


def log_noise(above: Floats, factor: float) -> float:
    """Sigma of `above[n]` (logarithms over their baseline) where nothing happens. Under 40 points from those
    below the baseline alone: half the points may belong to one excursion."""
    if len(above) >= 40:
        return max(robust_sigma(above[above < np.log(factor)]), 0.02)
    return max(
        2.27 * float(median(-above[above <= 0])), 0.1
    )  # the median of the lowest fifth is 0.44 sigma lower


LARGEST = 700.0  # logarithm of the largest ratio worth telling (a float64 ends at 709)


class Excursion(msgspec.Struct, frozen=True):
    """Rows `start` to `stop` (half-open) far above the level around them; `peak` is the row of the largest
    value, `factor` its ratio to the level, `score` its distance in robust noise of the logarithm."""

    start: int
    stop: int
    peak: int
    factor: float
    score: float


def excursions(values: Floats, *, factor: float, score: float) -> list[Excursion]:
    """Stretches of `values[n]` (positive) above `factor` times their baseline and `score` times the robust
    noise of the logarithm; stretches that nearly touch are one. One at the very start is left out: the first
    gradients of a fresh net are large."""
    logs = np.log(values)
    above = logs - baseline(logs)
    unit = log_noise(above, factor)
    mask = (above >= np.log(factor)) & (above >= score * unit)
    found: list[Excursion] = []
    for a, b in stretches(mask):
        if found and a - found[-1].stop <= 2:
            a = found.pop().start
        peak = a + int(np.argmax(above[a:b]))
        found.append(
            Excursion(a, b, peak, float(np.exp(min(above[peak], LARGEST))), float(above[peak] / unit))
        )
    opening = start_up(len(values), 0.02)
    return [e for e in found if e.start >= opening]


def far_above(
    values: Floats, level: float, *, factor: float, rows: int, ended: bool
) -> list[tuple[int, int]]:
    """Half-open ranges of at least `rows` values above `factor` times `level`; a last range of any length
    counts as well when the signal `ended` there (was not finite any more)."""
    found = stretches(values >= factor * level)
    return [(a, b) for a, b in found if b - a >= rows or (ended and b == len(values))]


def early_level(values: Floats, *, share: float) -> float:
    """What `values[n]` (positive) was like before anything happened: the lowest of the first, of the median
    of the first three and of the median of the rows up to `share` of the run."""
    return float(min(values[0], median(values[:3]), usual_level(values, share=share)))


def usual_level(values: Floats, *, share: float) -> float:
    """The median of `values[n]` over the rows up to `share` of the run, without its very start."""
    skip = start_up(len(values), 0.05)
    return float(median(values[skip : skip + max(3, int(share * len(values)))]))


def share_lost(curve: Curve) -> float:
    """How much of its starting level the objective lost by the end, as a share of that level's size: 1 for a
    loss that went to zero, 0 for one that stayed, negative for one that rose. Scale-free."""
    size = abs(curve.start)
    return (curve.start - curve.end) / size if size > 0 else 0.0


def has_improved(curve: Curve, *, share: float, score: float) -> bool:
    """Whether the objective ended better than it began, by `share` of its starting level or by `score` times
    its spread."""
    gain = curve.start - curve.end
    return share_lost(curve) >= share or (
        gain > 0 and gain >= score * max(curve.spread, 1e-12 * abs(curve.start))
    )


LOST = 0.02  # of what was gained: a loss near zero doubles by next to nothing


def is_worse_after(curve: Curve, step: float, *, share: float, score: float) -> bool:
    """Whether the objective ended worse than it was before `step`: not finite, or higher by `share` of the
    earlier level, by `score` times its noise, and by `LOST` of what it had gained."""
    if np.any(curve.nonfinite_steps >= step) and not np.any(curve.steps > curve.nonfinite_steps.max()):
        return True
    cut = int(np.searchsorted(curve.steps, step))
    if cut == 0 or cut >= curve.n:
        return False
    before = float(median(curve.as_loss[max(0, cut - max(3, curve.n // 5)) : cut]))
    return curve.end - before > max(share * abs(before), score * curve.noise, LOST * (curve.start - before))


def printed_step(values: Floats) -> float:
    """The unit of the last printed digit (0.001 for a log with three decimals), or 0 when the values have
    more than six decimals and seem unrounded."""
    for digits in range(7):
        # The first hundred values mostly rule a unit out.
        if all(are_whole_numbers(part * 10.0**digits) for part in (values[:100], values)):
            return float(10.0**-digits)
    return 0.0


def are_whole_numbers(values: Floats) -> bool:
    """Whether all of `values` are integers, but for rounding."""
    return bool(np.all(np.abs(values - np.round(values)) <= 1e-9 * np.maximum(np.abs(values), 1.0)))


def clip_ratios(features: Features) -> tuple[Floats, Floats]:
    """Steps and share of the gradient that clipping left over, in 0..1: as logged, or else from the gradient norm and
    the clipping norm. Raises CannotJudge if neither is known (a logged ratio outside of 0..1 is another quantity)."""
    ratio, norm, clip = (
        features.curve("clip_ratio"),
        features.curve("grad_norm"),
        features.run.setup.clip_norm,
    )
    if ratio is not None and ratio.n and ratio.values.min() > 0 and ratio.values.max() <= 1:
        return ratio.steps, ratio.values
    if norm is None or not norm.n or clip is None or clip <= 0:
        raise CannotJudge("clip_ratio is not a ratio in 0..1")
    return norm.steps, np.minimum(1.0, clip / np.maximum(norm.values, 1e-300))


def is_worse_from(curves: Features, step: float, *, share: float, score: float) -> bool:
    """Whether the run did worse from `step` on: the objective ended worse (see `is_worse_after`), or the
    gradient norm was not finite for several rows."""
    norm, objective = curves.curve("grad_norm"), curves.objective
    if objective is not None and is_worse_after(objective, step, share=share, score=score):
        return True
    return norm is not None and bool(stretches(~np.isfinite(norm.raw.values) & (norm.raw.steps >= step), 3))
