"""Levels that the values of a quantized weight lie on, and what is left of what is kept: of arrays on the
host."""

import numpy as np

from traindx.capture.arrays.data import Array

JUDGED, READ = 1 << 13, 1 << 14  # values of a weight that its levels are counted in; that are measured
GRID, REPEATED = 1024, 256  # most levels: evenly spaced ones; others
TOLERANCE = 1e-5  # of the largest value: `w + (q - w).detach()` is q but for rounding
PARTS = 8  # of the least distance that are tried
STRAY = 0.03  # of a level's distance that values may lie off the grid
FEWEST = 8  # values that must have fallen on a level by more than chance
GROUPS, TRIED = (128, 64, 32, 16), 64  # values that often share a scale; groups that are tried; few levels
FEWEST_STEPS = (
    4  # of a grid that may clip: with fewer levels many weights lie beyond the last one, and are meant to
)


def level_statistics(used: Array, own: Array) -> list[float]:
    """As `level_statistics` of `torch/measure/quantized/levels.py`, of a quantized weight and what it was made of,
    both `[rows, values]`: share of zeros and of the commonest of zero and each row's ends, |used - own| /
    |own|, (used * own) / (own * own), share beyond the grid. `own` all NaN where it is not kept: the last
    three are NaN."""
    used, own = used.astype(np.float64), own.astype(np.float64)
    zero = float((used == 0).mean())
    ends = [used.max(1, keepdims=True), used.min(1, keepdims=True)]
    at_ends = [float(((np.abs(used - end) <= TOLERANCE * np.abs(end)) & (end != 0)).mean()) for end in ends]
    size = max(float(np.square(own).sum()), np.finfo(np.float32).tiny)
    error = float(np.sqrt(np.square(used - own).sum() / size))
    kept = float((used * own).sum() / size)
    return [
        zero,
        max(zero, *at_ends),
        error,
        kept,
        clipped_share(used, own) if np.isfinite(kept) else np.nan,
    ]


def level_spacing(rows: Array) -> Array:
    """`[rows, 1]`: the least distance of two levels of each row; infinite in rows of one level."""
    if rows.shape[1] < 2:
        return np.full((len(rows), 1), np.inf)
    apart = np.diff(np.sort(rows, 1), axis=1)
    apart = np.where(apart > TOLERANCE * np.abs(rows).max(1, keepdims=True), apart, np.inf)
    return np.asarray(apart.min(1, keepdims=True))


def clipped_share(used: Array, own: Array) -> float:
    """Share of the weights that lie more than half a level beyond the last one; NaN where the rows have few
    levels."""
    step, high, low = level_spacing(used), used.max(1, keepdims=True), used.min(1, keepdims=True)
    fine = (high - low) >= (FEWEST_STEPS - STRAY) * np.where(np.isfinite(step), step, np.inf)
    if not fine.any():
        return float("nan")
    beyond = (own > high + (0.5 + STRAY) * step) | (own < low - (0.5 + STRAY) * step)
    return float((beyond & fine).sum() / np.broadcast_to(fine, own.shape).sum())


def moved_share(now: Array, before: Array) -> float:
    """Share of the values `[rows, values]` that lie on another level than before, whatever became of the
    scale."""
    rates = np.full((len(now), 1), 1.0)
    for row, (new, old) in enumerate(zip(now, before, strict=True)):
        known = new[old != 0] / old[old != 0]
        rate = float(np.sort(known)[(len(known) - 1) // 2]) if len(known) else 1.0
        rates[row] = rate if rate > 0 else 1.0  # more turned than not
    step = level_spacing(before)
    size = np.maximum(np.abs(before).max(1, keepdims=True), np.abs(now).max(1, keepdims=True))
    step = np.where(np.isinf(step), size, step)
    return float((np.abs(now / rates - before) > 0.5 * step).mean())


def quantized_levels(used: Array, own: Array) -> int:
    """How many levels the values of `used` lie on (`[rows, values]`), by tensor or by row; 0 where they are
    no fewer than those of the parameter, or where some are its own (pruned weights)."""
    if used.shape != own.shape or not (np.isfinite(used).all() and np.isfinite(own).all()):
        return 0
    there = used != 0
    largest = float(np.abs(own).max(initial=0.0))
    if largest == 0 or (there.any() and np.abs(used - own)[there].max() <= TOLERANCE * largest):
        return 0
    if len(steps(own.reshape(-1))) <= min(len(steps(used.reshape(-1))), own.size - 1):
        return 0
    found = [n for n in (levels(used.reshape(1, -1)), levels(used)) if n]
    fewest = min(found, default=0)
    return fewest if 0 < fewest <= TRIED else min(filter(None, (grouped_levels(used), fewest)), default=0)


def grouped_levels(rows: Array) -> int:
    """The most levels of a group of values in a row that has its own scale; 0 where there are no such
    groups."""
    for size in GROUPS:
        if (
            rows.shape[1] > size
            and not rows.shape[1] % size
            and (found := levels(rows.reshape(-1, size)[:TRIED]))
        ):
            return found
    return 0


def levels(rows: Array) -> int:
    """The most levels of a row where nearly all rows lie on few levels (their number), or on an even grid
    (its length); else 0."""
    found, by_chance = [], 0
    for row in rows:
        places = steps(row)
        count = len(places)
        if count <= min(REPEATED, row.size // 4):
            found.append(count)
            by_chance += row.size - count
        elif spacing := grid_length(places):
            found.append(spacing)
            by_chance += row.size - 2
    return max(found) if len(found) > 0.9 * len(rows) and by_chance >= FEWEST else 0


def steps(values: Array) -> Array:
    """The levels of values, ascending; what differs by TOLERANCE is one level."""
    ordered = np.sort(values)
    apart = np.diff(ordered) > TOLERANCE * float(np.abs(ordered).max(initial=0.0))
    return np.asarray(ordered[np.concatenate(([True], apart))])


def grid_length(places: Array) -> int:
    """Length of the even grid that levels are places on, in levels; 0 where they are on none. No two of a
    few values need be neighbours on it: so parts of their least distance are tried, too."""
    if len(places) == 1:
        return 1
    away = (places - places[0]) / np.diff(places).min()
    for part in range(1, PARTS + 1 if len(places) > PARTS else 2):
        finer = part * away
        if finer[-1] < GRID and np.abs(finer - np.round(finer)).max() <= STRAY:
            return round(float(finer[-1])) + 1
    return 0
