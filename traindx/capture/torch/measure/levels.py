"""Levels that the values of a quantized weight lie on, and what is left of its parameter."""

from __future__ import annotations

import numpy as np
import torch

from traindx.capture.torch.measure.views import Array, local

JUDGED, READ = 1 << 13, 1 << 14  # values of a weight that its levels are counted in; that are measured
GRID, REPEATED = 1024, 256  # most levels: evenly spaced ones; others
TOLERANCE = 1e-5  # of the largest value: `w + (q - w).detach()` is q but for rounding
PARTS = 8  # of the least distance that are tried
STRAY = 0.03  # of a level's distance that values may lie off the grid
FEWEST = 8  # values that must have fallen on a level by more than chance
GROUPS, TRIED = (128, 64, 32, 16), 64  # values that often share a scale; groups that are tried; few levels
MOVED_READ = 1 << 12  # values of a weight that are compared with those of a step before
FEWEST_STEPS = 4  # of a grid that may clip: with fewer levels many weights lie beyond the last one, and are meant to


def rows_of(tensor: torch.Tensor, size: int) -> torch.Tensor:
    """`[rows, values]` of a weight: one row an output, evenly spread ones where there are more values than `size`."""
    tensor = local(tensor)
    stride = max(1, -(-tensor.numel() // size))
    return tensor[::stride].reshape(len(tensor[::stride]), -1)


def measured(used: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """FIELDS, but for those that take two passes, of a quantized weight and its parameter, both `[rows, values]`: the
    share of zeros, of the commonest of zero and each row's lowest and highest level, |used - own| / |own|,
    (used * own) / (own * own), and the share that lies beyond the grid (see `clipped`)."""
    used, own = used.float(), own.float()
    zero = (used == 0).float().mean()
    shares = [zero]
    for end in (used.amax(1, keepdim=True), used.amin(1, keepdim=True)):
        there = ((used - end).abs() <= TOLERANCE * end.abs()) & (end != 0)
        shares.append(there.float().mean())
    size = own.square().sum().clamp_min(torch.finfo(own.dtype).tiny)
    error = ((used - own).square().sum() / size).sqrt()
    kept = (used * own).sum() / size
    return torch.stack([zero, torch.stack(shares).amax(), error, kept, clipped(used, own)])


def spacing(rows: torch.Tensor) -> torch.Tensor:
    """`[rows, 1]`: the least distance of two levels of each row; infinite in rows of one level."""
    apart = rows.sort(1).values.diff(dim=1)
    apart = torch.where(apart > TOLERANCE * rows.abs().amax(1, keepdim=True), apart, torch.inf)
    return apart.amin(1, keepdim=True) if apart.shape[1] else torch.full_like(rows[:, :1], torch.inf)


def clipped(used: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Share of the weights that lie more than half a level beyond the last one, to which rounding to the nearest level
    would not have brought them; NaN where the rows have few levels, or levels of another size than the weights."""
    few = max(1, -(-used.numel() // MOVED_READ))
    used, own = used[::few], own[::few]
    step = spacing(used)
    high, low = used.amax(1, keepdim=True), used.amin(1, keepdim=True)
    fine = (high - low) >= (FEWEST_STEPS - STRAY) * step
    beyond = (own > high + (0.5 + STRAY) * step) | (own < low - (0.5 + STRAY) * step)
    share = (beyond & fine).float().sum() / (fine.expand_as(own).float().sum())  # 0 / 0 is NaN
    return share


def moved(now: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Share of the values `[rows, values]` that lie on another level than before, whatever became of the scale."""
    now, before = now.float(), before.float()
    ratio = torch.where(before != 0, now / before, torch.nan).nanmedian(1, keepdim=True).values
    ratio = torch.where(ratio > 0, ratio, torch.ones_like(ratio))  # nothing to go by, or more turned than not
    step = spacing(before)
    size = torch.maximum(before.abs().amax(1, keepdim=True), now.abs().amax(1, keepdim=True))
    step = torch.where(step.isinf(), size, step)
    return ((now / ratio - before).abs() > 0.5 * step).float().mean()


def quantized_levels(used: Array, own: Array) -> int:
    """How many levels the values of `used` lie on (`[rows, values]`), by tensor or by row; 0 where they are no fewer
    than those of the parameter, or where some are its own (pruned weights)."""
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
    """The most levels of a group of values in a row with a scale of its own; 0 where there are no such groups."""
    for size in GROUPS:
        if rows.shape[1] > size and not rows.shape[1] % size and (found := levels(rows.reshape(-1, size)[:TRIED])):
            return found
    return 0


def levels(rows: Array) -> int:
    """The most levels of a row where nearly all rows lie on few levels (their number), or on an even grid (its
    length); else 0."""
    found, by_chance = [], 0
    for row in rows:
        places = steps(row)
        count = len(places)
        if count <= min(REPEATED, row.size // 4):
            found.append(count)
            by_chance += row.size - count
        elif spacing := on_grid(places):
            found.append(spacing)
            by_chance += row.size - 2
    return max(found) if len(found) > 0.9 * len(rows) and by_chance >= FEWEST else 0


def steps(values: Array) -> Array:
    """The levels of values, ascending; what differs by TOLERANCE is one level."""
    ordered = np.sort(values)
    apart = np.diff(ordered) > TOLERANCE * float(np.abs(ordered).max(initial=0.0))
    return np.asarray(ordered[np.concatenate(([True], apart))])


def on_grid(places: Array) -> int:
    """Length of the even grid that levels are places on, in levels; 0 where they are on none. No two of a few
    values need be neighbours on it: so parts of their least distance are tried, too."""
    if len(places) == 1:
        return 1
    away = (places - places[0]) / np.diff(places).min()
    for part in range(1, PARTS + 1 if len(places) > PARTS else 2):
        finer = part * away
        if finer[-1] < GRID and np.abs(finer - np.round(finer)).max() <= STRAY:
            return round(float(finer[-1])) + 1
    return 0
