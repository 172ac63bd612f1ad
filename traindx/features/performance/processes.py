"""Signals that several processes of one run recorded: rank 0's under its own name, others' under
`rank/<i>/`."""

import re
from collections.abc import Sequence

import msgspec
import numpy as np

from traindx.features.performance.level_shifts import stretches
from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Bools, Floats, Panel, Run, Series

RANKED = re.compile(r"rank/(\d{1,6})/(.+)")
SMALLEST = 1e-30  # what is divided by
LARGEST = 1e30  # what is beyond is no time and no norm
MANY = 8  # processes among which one hardly moves the median
DATA_PARALLEL = ("distributeddataparallel", "fullyshardeddataparallel", "fully_shard")  # wrappers
# Optimizers of that kind, by words in their names: see `is_scale_free`.
SCALE_FREE = ("adam", "adagrad", "rmsprop", "adadelta", "adafactor", "lion", "rprop", "muon")
SIMILAR = 1e-3  # of their size, by which sums over averaged gradients may differ: their terms cancel in part


class ByRank(msgspec.Struct, frozen=True):
    """One signal of several processes: `values[r, n]` of rank `ranks[r]` at `steps[n]`, which all
    recorded."""

    signal: str
    ranks: tuple[int, ...]
    steps: Floats
    values: Floats


def is_scale_free(run: Run) -> bool:
    """Whether a step is as long for gradients twice as large."""
    return any(word in run.setup.word("optimizer") for word in SCALE_FREE)


def ranks_of(run: Run) -> tuple[int, ...]:
    """The processes that recorded anything, in order; the one without a number is the one before the
    others."""
    found = {int(match[1]) for name in (*run.series, *run.panels) if (match := RANKED.fullmatch(name))}
    plain = any(not name.startswith("rank/") for name in (*run.series, *run.panels))
    return tuple(sorted(found | ({min(found) - 1 if min(found) else 0} if found and plain else set())))


def name_of(signal: str, rank: int, ranks: Sequence[int], run: Run) -> str:
    """What a rank's signal is called: the first rank's may have its own name."""
    numbered = f"rank/{rank}/{signal}"
    bare = rank == ranks[0] and numbered not in run.series and numbered not in run.panels
    return signal if bare else numbered


def series_by_rank(features: Features, signal: str) -> ByRank | None:
    """A series of all processes that have it, at their common steps; None where fewer than two do."""
    ranks = ranks_of(features.run)
    held = {rank: features.curve(name_of(signal, rank, ranks, features.run)) for rank in ranks}
    curves = {rank: curve for rank, curve in held.items() if curve is not None and curve.n}
    if len(curves) < 2:
        return None
    steps = common([c.steps for c in curves.values()])
    values = np.stack([c.values[np.searchsorted(c.steps, steps)] for c in curves.values()])
    sane = (np.abs(values) < LARGEST).all(axis=0)
    return ByRank(signal, tuple(curves), steps[sane], values[:, sane])


def panels_by_rank(run: Run, signal: str) -> tuple[Floats, dict[int, Floats]]:
    """A panel of all processes that have it: `steps[n]` that all recorded, and by rank `values[n, m]` of the
    modules that all have."""
    ranks = ranks_of(run)
    held = {rank: run.panels.get(name_of(signal, rank, ranks, run)) for rank in ranks}
    panels = {rank: panel for rank, panel in held.items() if panel is not None and len(panel.steps)}
    if len(panels) < 2:
        return np.empty(0), {}
    steps = common([p.steps for p in panels.values()])
    shared = set.intersection(*(set(p.modules) for p in panels.values()))
    return steps, {rank: rows_of(panel, steps, shared) for rank, panel in panels.items()}


def common(steps: Sequence[Floats]) -> Floats:
    """The steps that are in each of several rows of them, ascending."""
    found, counts = np.unique(np.concatenate([np.unique(s) for s in steps]), return_counts=True)
    return np.asarray(found[counts == len(steps)])


def rows_of(panel: Panel, steps: Floats, modules: set[str]) -> Floats:
    """`values[n, m]` of a panel at steps that it has, for some of its modules in order of their names."""
    columns = sorted((name, i) for i, name in enumerate(panel.modules) if name in modules)
    return np.asarray(panel.values[np.searchsorted(panel.steps, steps)][:, [i for _, i in columns]])


def spread_over_ranks(values: Floats) -> Floats:
    """By how much the rows of `values[r, n]` differ, as a share of the largest; 0 where all are 0. Shape
    `[n]`."""
    high, low = values.max(axis=0), values.min(axis=0)
    size = np.maximum(np.abs(high), np.abs(low))
    return np.asarray(np.divide(high - low, size, out=np.zeros_like(size), where=size > 0))


def above_others(values: Floats) -> Floats:
    """Each row of `values[r, n]` less the median of the others (of all, where there are many). Shape `[r,
    n]`."""
    if len(values) > MANY:
        return np.asarray(values - median(values, axis=0))
    return np.stack([row - median(np.delete(values, i, axis=0), axis=0) for i, row in enumerate(values)])


def longest_stretch(mask: Bools) -> tuple[int, int]:
    """The longest half-open range of true entries of `mask[n]`; (0, 0) where there is none."""
    return max(stretches(mask), key=lambda pair: pair[1] - pair[0], default=(0, 0))


def reports_of(run: Run) -> dict[int, Series]:
    """Of each rank the series that goes on longest, of those that a numbered rank has."""
    ranks = ranks_of(run)
    numbered = sorted({match[2] for name in run.series if (match := RANKED.fullmatch(name))})
    found: dict[int, Series] = {}
    for rank in ranks:
        held = [run.series.get(name_of(signal, rank, ranks, run)) for signal in numbered]
        there = [series for series in held if series is not None and len(series)]
        if there:
            found[rank] = max(there, key=lambda series: (float(series.steps[-1]), len(series)))
    return found


class Count(msgspec.Struct, frozen=True):
    """A rank that was at step `own` when another was at step `other`."""

    rank: int
    own: float
    other: float


def lagging_count(run: Run, share: float) -> Count | None:
    """The rank that counts the fewest steps, though it reported until the others did: fewer by a `share` of
    them. None where all count the same, or times are not known."""
    reports = reports_of(run)
    times = {
        rank: s.times for rank, s in reports.items() if s.times is not None and np.isfinite(s.times).all()
    }
    if len(times) < 2 or len(times) < len(reports):
        return None
    ends = {rank: float(found[-1]) for rank, found in times.items()}
    duration = max(ends.values()) - min(float(found[0]) for found in times.values())
    with_end = {
        rank: reports[rank] for rank, end in ends.items() if max(ends.values()) - end <= share * duration
    }
    if len(with_end) < 2:
        return None
    rank, own = min(with_end.items(), key=lambda item: float(item[1].steps[-1]))
    other = max(float(series.steps[-1]) for series in with_end.values())
    first = min(float(series.steps[0]) for series in with_end.values())
    return (
        Count(rank, float(own.steps[-1]), other) if other - own.steps[-1] > share * (other - first) else None
    )


class Mean(msgspec.Struct, frozen=True):
    """How the gradient that steps use compares with the mean of what the processes had: `ratio` times it,
    but for a share `off` of its size, at `steps` compared."""

    ranks: int
    ratio: float
    off: float
    steps: Floats


def exchanged_mean(features: Features) -> Mean | None:
    """From the sums over gradients before and after the exchange (their clipping undone); None where not all
    processes of the run recorded them, or they use gradients of their own."""
    own, used = series_by_rank(features, "exchange/own"), series_by_rank(features, "exchange/used")
    world = features.run.setup.number("world_size")
    if own is None or used is None or own.ranks != used.ranks or len(own.ranks) != world:
        return None
    steps, i, j = np.intersect1d(own.steps, used.steps, return_indices=True)
    mean, made = own.values[:, i].mean(axis=0), used.values[:, j]
    if (clipped := features.curve("clip_ratio")) is not None and clipped.n:
        ratio = np.where(np.isin(steps, clipped.steps), clipped.at_steps(steps), 1.0)
        mean, made, steps = mean[ratio > 0], made[:, ratio > 0] / ratio[ratio > 0], steps[ratio > 0]
    size = float(np.square(mean).sum())
    if not len(steps) or size <= 0 or float(median(spread_over_ranks(made))) > SIMILAR:
        return None
    together = made.mean(axis=0)
    slope = float((together * mean).sum()) / size
    rest = float(np.linalg.norm(together - slope * mean)) / max(float(np.linalg.norm(together)), SMALLEST)
    return Mean(len(own.ranks), slope, rest, steps)
