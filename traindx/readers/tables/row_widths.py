"""Rows that become wider or narrower under one header: which of their cells belongs to which column.

A program that logs a number more since it was changed, and appends to the same file, writes no second
header. The columns keep their order, and their values go on from where they were, or begin again as they
began.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from traindx.features.statistics.medians import median
from traindx.readers.tables.layout import LEAST
from traindx.vocabulary.run import Floats

MOST_WAYS = 2_000  # of laying cells under columns that are tried
PART = 0.02  # of a value that it may differ from the one before, in addition to the noise
FAR = 2.0  # mean cost of a column (log of 1 + distance in noise) beyond which nothing fits
CLOSE = 0.5  # cost by which the best way has to lead for its choice to be believed
WORD = 10.0  # cost of numbers where words were, or the other way round


def names_of(names: Sequence[str], known: dict[str, Floats], cells: Floats) -> tuple[str, ...] | None:
    """Names for rows of another width: `cells[LEAST, w]`, NaN where no number is. `known[name][n]` are
    numbers that were under a name, the first and the last of them; a name without any held words.

    Cells that belong to no column, or possibly to one of several, are called c<place>. None where
    no way fits."""
    width, count = cells.shape[1], len(names)
    fewer = min(width, count)
    if fewer < 2 or comb(max(width, count), fewer) > MOST_WAYS:
        return None
    best: tuple[float, list[str]] | None = None
    for part in (
        slice(-1, -LEAST - 1, -1),
        slice(LEAST),
    ):  # goes on from the last row, or begins as the first did
        rows = [known.get(name, np.empty(0))[part] for name in names]
        costs = np.array([[cost(row, cells[:, j]) for j in range(width)] for row in rows])
        found = laid(names, costs, fewer)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return tuple(best[1]) if best[0] <= FAR * fewer and set(names) & set(best[1]) else None


def laid(names: Sequence[str], costs: Floats, fewer: int) -> tuple[float, list[str]]:
    """The least cost of laying cells under columns in their order, and the names that all ways of about that
    cost agree on. `costs[column, cell]`."""
    columns, width = costs.shape
    ways = []
    for chosen in combinations(range(max(columns, width)), fewer):
        pairs = list(zip(chosen, range(width), strict=True) if columns > width else enumerate(chosen))
        ways.append((float(sum(costs[pair] for pair in pairs)), pairs))
    ways.sort()
    near = [{j: names[i] for i, j in pairs} for total, pairs in ways if total <= ways[0][0] + CLOSE]
    first = near[0]
    agreed = [
        first.get(j) if all(way.get(j) == first.get(j) for way in near) else None for j in range(width)
    ]
    return ways[0][0], [name or f"c{j}" for j, name in enumerate(agreed)]


def cost(near: Floats, after: Floats) -> float:
    """How badly values go with others: the log of the distance of the first of each in units of their own
    noise."""
    a, b = near[np.isfinite(near)], after[np.isfinite(after)]
    if not len(a) or not len(b):
        return 0.0 if not len(a) and not len(b) else WORD
    noise = float(median(np.abs(np.diff(a)))) if len(a) > 1 else 0.0
    return float(np.log1p(abs(b[0] - a[0]) / (noise + PART * abs(a[0]) + 1e-12)))
