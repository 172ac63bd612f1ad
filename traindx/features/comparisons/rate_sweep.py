"""What a learning-rate range test shows: losses of a run whose rate rises exponentially, step by step.

Source of the method: L. N. Smith, Cyclical Learning Rates for Training Neural Networks (2017); of the
rates that are read off: the steepest point, and a tenth of the rate at which the loss is lowest (both as
in fastai's `lr_find`). Here slopes are taken against the *logarithm* of the rate, by local straight
lines, and are judged against the noise of the loss.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from traindx.features.statistics import difference_noise, median, median_error
from traindx.vocabulary import Floats, Run, Series

PARTS = 25  # the width of the smoothing is this part of the sweep: a third of a decade, if that has eight
SHARP = 60  # ... as it is drawn
LEAST = 30  # points of a sweep from which anything can be read
CERTAIN = (
    5.0  # standard errors that the fall of the loss must have; the best of some ten places is looked for
)
# A rate is held for an instant only, and a slow divergence does not show: the rate at which the loss is
# lowest is too high to train with.
SAFE = 2.0  # it over this is the largest safe rate
KEEP = (10.0, 4.0)  # it over these: the rates between which the suggestion is kept
FAR = 3.0  # times its fall that a loss must rise above its start to have diverged for good
NEAR = 0.1  # share of what the best rate gains by which another may end above it and still be called good
RECENT = 5  # points whose median is asked


class Sweep(NamedTuple):
    """`rates[n]` in rising order and `losses[n]` after the steps that were made with them; `has_diverged`
    when the loss was not finite afterwards, or so high that the run was ended."""

    rates: Floats
    losses: Floats
    diverged: bool

    @property
    def smoothed(self) -> Floats:
        """The losses without their noise, for the eye: smoothed over less than for a reading."""
        n = len(self.losses)
        return local_lines(pad_sweep(self, n), n / SHARP)[0] if n > 1 else self.losses


class Reading(NamedTuple):
    """What sweeps (of several seeds) say together.

    `steepest`: the rate at which the loss falls fastest against log rate. `lowest`: at which it is
    lowest. `start`, `fall`, `noise` are losses: at the lowest rates, how far it falls, and its
    point-to-point noise. `open_end`: it still fell at the highest rate."""

    steepest: float
    lowest: float
    start: float
    fall: float
    noise: float
    z: float
    open_end: bool

    @property
    def safe(self) -> float:
        """The largest rate that is likely to go well for longer than an instant."""
        return self.lowest / SAFE

    @property
    def suggested(self) -> float:
        """The steepest point, kept within a tenth and a quarter of the lowest."""
        if self.open_end:
            return self.steepest
        return float(np.clip(self.steepest, self.lowest / KEEP[0], self.lowest / KEEP[1]))


class Suggestion(NamedTuple):
    """`reading` of all sweeps together, and between which rates the suggestion is when each sweep,
    and each half of it (every other point), is read alone."""

    reading: Reading
    low: float
    high: float


def sweep_of(lr: Series, loss: Series) -> Sweep:
    """The rates and losses of one run: the loss of a step shows what the rate of the step before did.

    Steps of which one of the two is missing are left out; it ends at the first loss that is not finite."""
    steps, where_rate, where_loss = np.intersect1d(lr.steps, loss.steps, return_indices=True)
    rates, losses = lr.values[where_rate], loss.values[where_loss]
    broken = np.flatnonzero(~np.isfinite(losses))
    end = int(broken[0]) if len(broken) else len(steps)
    losses = losses[:end]
    return Sweep(rates[: max(end - 1, 0)], losses[1:], bool(len(broken)) or has_diverged(losses))


DECADES, STRAIGHT, MOST = (
    3.0,
    0.99,
    400,
)  # of the rates; correlation of their logarithm with time; points read


def range_test_of(run: Run) -> Sweep | None:
    """The sweep of a log whose rate rises exponentially, by three decades or more, up to its end; None for any
    training. A warm-up rises along a straight line, or ends before the run does."""
    if not {"lr", "train/loss"} <= run.series.keys():
        return None
    sweep = sweep_of(run.series["lr"], run.series["train/loss"])
    rates = sweep.rates
    if (
        len(rates) < LEAST
        or not (rates > 0).all()
        or np.ptp(rates) == 0
        or np.argmax(rates) < len(rates) - 2
    ):
        return None
    height = np.log10(rates)
    together = float(np.corrcoef(height, np.arange(len(rates)))[0, 1])
    if height[-1] - height[0] < DECADES or together < STRAIGHT:
        return None
    every = -(-len(rates) // MOST)
    return Sweep(rates[::every], sweep.losses[::every], sweep.diverged)


def has_diverged(losses: Floats) -> bool:
    """Whether a sweep has shown all that it can: its last losses are far above the first."""
    if not len(losses) or not np.isfinite(losses).all():
        return bool(len(losses))
    if len(losses) < 2 * RECENT:
        return False
    start = float(median(losses[: max(RECENT, len(losses) // 10)]))
    low = float(np.min(np.convolve(losses, np.ones(RECENT) / RECENT, "valid")))
    far = max(start - low, 10 * difference_noise(losses[: len(losses) // 2]))
    return far > 0 and float(median(losses[-RECENT:])) > start + FAR * far


def read(sweeps: Sequence[Sweep]) -> Suggestion | str:
    """The suggestion of sweeps over the same rates; a reason where there is none."""
    complete = [len(s.losses) for s in sweeps if not s.diverged]
    n = min(complete) if complete else max(len(s.losses) for s in sweeps)
    rates = max((s.rates for s in sweeps), key=len)[:n]
    if n < LEAST:
        early = "the loss explodes or is not finite" if not complete else "the sweep ends"
        return f"{early} after {n} steps; at least {LEAST} are needed"
    curves = [pad_sweep(s, n) for s in sweeps]
    reading = _read(rates, curves)
    if reading.z < CERTAIN:
        return _why_no_suggestion(reading, sweeps)
    parts = [[c] for c in curves]
    alone = [_read(rates[i::2], [c[i::2] for c in part]).suggested for part in parts for i in (0, 1)]
    alone += [reading.suggested, *(_read(rates, part).suggested for part in parts)]
    return Suggestion(reading, min(alone), max(alone))


def pad_sweep(sweep: Sweep, n: int) -> Floats:
    """`n` losses: what is above a ceiling, and what is missing after a divergence, is at the ceiling,
    so that the height of an explosion has no weight. It is as far above the start as the lowest loss
    is below."""
    losses = sweep.losses[:n]
    start = _starting_loss(losses)
    ceiling = start + max(start - float(np.min(losses)), 0.0)
    return np.concatenate([np.minimum(losses, ceiling), np.full(n - len(losses), ceiling)])


def _starting_loss(losses: Floats) -> float:
    return float(median(losses[: max(RECENT, len(losses) // 10)]))


def _read(rates: Floats, curves: Sequence[Floats]) -> Reading:
    """Curves of equal length, averaged."""
    n = len(rates)
    mean = np.mean(curves, axis=0)
    level, slope = local_lines(mean, n / PARTS)
    lowest = int(np.argmin(level))
    steepest = int(np.argmin(slope[: lowest + 1]))
    start = _starting_loss(mean)
    noise = difference_noise(mean[: max(lowest, n // 3)])
    error = float(
        np.hypot(noise * line_error(n, n / PARTS, lowest), median_error(noise, max(RECENT, n // 10)))
    )
    fall = start - float(level[lowest])
    z = fall / error if error > 0 else (np.inf if fall > 1e-9 * abs(start) else 0.0)
    open_end = lowest >= n - 1 - n // PARTS
    return Reading(float(rates[steepest]), float(rates[lowest]), start, fall, noise, z, open_end)


def local_lines(values: Floats, width: float) -> tuple[Floats, Floats]:
    """Level and slope per point of straight lines through `values[n]`, each fitted around its point
    with normal weights of the given width. O(n^2) memory: for a few hundred points."""
    at = np.arange(len(values), dtype=np.float64)
    apart = at[None, :] - at[:, None]
    weights = np.exp(-0.5 * (apart / max(width, 0.5)) ** 2)
    s0, s1, s2 = weights.sum(1), (weights * apart).sum(1), (weights * apart**2).sum(1)
    t0, t1 = weights @ values, (weights * apart) @ values
    determinant = s0 * s2 - s1**2
    return (s2 * t0 - s1 * t1) / determinant, (s0 * t1 - s1 * t0) / determinant


def final(losses: Floats) -> float:
    """The level over the last tenth of a run; NaN where it diverged."""
    if not len(losses) or has_diverged(losses):
        return float("nan")
    return float(median(losses[-max(RECENT, len(losses) // 10) :]))


def line_error(n: int, width: float, place: int) -> float:
    """Standard error of the level of `local_lines` at one of `n` places, for noise of 1."""
    apart = np.arange(n, dtype=np.float64) - place
    weights = np.exp(-0.5 * (apart / max(width, 0.5)) ** 2)
    s0, s1, s2 = weights.sum(), (weights * apart).sum(), (weights * apart**2).sum()
    return float(np.linalg.norm(weights * (s2 - s1 * apart) / (s0 * s2 - s1**2)))


def good_rates(tried: Mapping[float, Sequence[float]], start: float) -> tuple[float, float] | None:
    """The lowest and the highest of the rates around the best one whose final losses (of several
    seeds, averaged) are within a tenth of what was gained from `start`; None where nothing was."""
    levels = {rate: float(np.mean(losses)) for rate, losses in sorted(tried.items())}
    finite = [level for level in levels.values() if np.isfinite(level)]
    if not finite or min(finite) >= start:
        return None
    limit = min(finite) + NEAR * (start - min(finite))
    rates = list(levels)
    first = last = min(
        range(len(rates)), key=lambda i: levels[rates[i]] if np.isfinite(levels[rates[i]]) else np.inf
    )
    while first > 0 and levels[rates[first - 1]] <= limit:
        first -= 1
    while last < len(rates) - 1 and levels[rates[last + 1]] <= limit:
        last += 1
    return rates[first], rates[last]


def _why_no_suggestion(reading: Reading, sweeps: Sequence[Sweep]) -> str:
    """Why there is no suggestion."""
    high = reading.start + CERTAIN * reading.noise
    rose = all(s.diverged or float(median(s.losses[-RECENT:])) > high for s in sweeps)
    rises = ", and rises at high ones" if rose else ""
    return (
        f"at no learning rate does the loss fall by more than its noise{rises} "
        f"(it falls by {max(reading.fall, 0.0):.2g} from {reading.start:.4g}, with noise of {reading.noise:.2g})"
    )
