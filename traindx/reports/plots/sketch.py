"""A curve drawn with characters. `plan` computes what to draw, `draw` turns it into lines."""

from collections.abc import Mapping

import msgspec
import numpy as np

from traindx.features.statistics import quantile
from traindx.reports.labels import number, step
from traindx.vocabulary import Floats, Series

LOG_RATIO = 30.0  # a positive signal that spans more than this is drawn on a log scale
MOST_EXACT = 20_000  # above this many points the bulk of a column is estimated from every k-th point
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class Sketch(msgspec.Struct, frozen=True, kw_only=True):
    """`dots[4 * rows, 2 * columns]`, top row first; `low`, `high`: values at the bottom and top;
    `beyond`: largest and smallest value left out at the (top, bottom), or None; `bad`: columns with
    values that are not finite; `marks`: column -> finding's number."""

    dots: np.ndarray
    low: float
    high: float
    log: bool
    beyond: tuple[float | None, float | None]
    bad: tuple[int, ...]
    marks: Mapping[int, int]
    first: float
    last: float


def plan(series: Series, marks: Mapping[int, float], columns: int, rows: int) -> Sketch | None:
    """What to draw of a series in `columns` x `rows` characters; `marks`: number -> step. Each half
    column shows the middle 80 % of its values as a bar, and its smallest and largest as dots.
    None when fewer than two values are finite."""
    x, y = series.steps, series.values
    finite = np.isfinite(y)
    if int(finite.sum()) < 2 or not x[-1] > x[0]:
        return None
    low, high, log = value_range(y[finite])
    scaled = np.where(finite, y, np.nan)
    scaled = np.log10(np.maximum(scaled, low)) if log else scaled
    bottom, top = (np.log10(low), np.log10(high)) if log else (low, high)
    height = 4 * rows
    with np.errstate(invalid="ignore"):
        level = np.clip((scaled - bottom) / (top - bottom), 0.0, 1.0) * (height - 1)
    dots = raster(x, level, 2 * columns, height)
    spot = (x - x[0]) / (x[-1] - x[0])
    seen = set((spot[~finite] * (columns - 1)).round().astype(int).tolist())
    width = float(x[-1] - x[0])
    places = {
        n: round(min(max((s - float(x[0])) / width, 0.0), 1.0) * (columns - 1)) for n, s in marks.items()
    }
    most, least = float(y[finite].max()), float(y[finite].min())
    return Sketch(
        dots=dots,
        low=low,
        high=high,
        log=log,
        beyond=(most if most > high else None, least if least < low else None),
        bad=tuple(sorted(seen)),
        marks={c: n for n, c in sorted(places.items(), reverse=True)},
        first=float(x[0]),
        last=float(x[-1]),
    )


def value_range(y: Floats) -> tuple[float, float, bool]:
    """(low, high, log scale?) for finite `y[n]`. Lone extremes are left out where they would flatten
    all the rest."""
    least, most = float(y.min()), float(y.max())
    q02, q98 = (float(q) for q in quantile(y, (0.02, 0.98)))
    if least > 0 and most / least > LOG_RATIO:
        return max(least, q02 / 10.0), most, True
    body = q98 - q02
    if body > 0 and len(y) >= 50:
        high = q98 + 0.5 * body if most - q98 > 3 * body else most
        low = q02 - 0.5 * body if q02 - least > 3 * body else least
        return low, high, False
    if most > least:
        return least, most, False
    margin = abs(most) * 0.1 or 1.0
    return least - margin, most + margin, False


def raster(x: Floats, level: Floats, columns: int, height: int) -> np.ndarray:
    """Dots `[height, columns]`, top first, of `level[n]` (0 .. height-1, NaN where there is none)."""
    middle = np.interp(np.linspace(x[0], x[-1], columns), x, level)  # NaN next to a NaN: gaps stay open
    lower, upper = middle.copy(), middle.copy()
    grid = np.zeros((height, columns), dtype=bool)
    if len(x) > 2 * columns:
        place = ((x - x[0]) / (x[-1] - x[0]) * (columns - 1)).round().astype(int)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(place)) + 1])
        full = place[starts]
        for values in (np.fmin.reduceat(level, starts), np.fmax.reduceat(level, starts)):
            ok = np.isfinite(values)
            grid[values[ok].round().astype(int), full[ok]] = True
        lower[full], upper[full] = bulk(place, level, full)
    connect(grid, lower, upper)
    return grid[::-1]


def bulk(place: np.ndarray, level: Floats, columns: np.ndarray) -> tuple[Floats, Floats]:
    """10 % and 90 % quantile of the finite levels in each of `columns`; NaN where there are none."""
    keep = np.isfinite(level)
    stride = max(1, len(level) // MOST_EXACT)
    place, level = place[keep][::stride], level[keep][::stride]
    order = np.lexsort((level, place))
    place, level = place[order], level[order]
    begin = np.searchsorted(place, columns, side="left")
    count = np.searchsorted(place, columns, side="right") - begin
    found = count > 0
    out = np.full((2, len(columns)), np.nan)
    for row, share in zip(out, (0.1, 0.9), strict=True):
        row[found] = level[(begin + np.round(share * (count - 1)).astype(int))[found]]
    return out[0], out[1]


def connect(grid: np.ndarray, lower: Floats, upper: Floats) -> None:
    """Fill each column of `grid[height, columns]` between its bounds, and up to its left neighbour's."""
    before: tuple[int, int] | None = None
    for column, (a, b) in enumerate(zip(lower, upper, strict=True)):
        if not (np.isfinite(a) and np.isfinite(b)):
            before = None
            continue
        low, high = round(float(a)), round(float(b))
        reach = (low, high)
        if before is not None:
            low, high = min(low, before[1]), max(high, before[0])
        grid[low : high + 1, column] = True
        before = reach


def draw(sketch: Sketch, *, unicode: bool = True) -> tuple[list[str], list[str]]:
    """(lines of the plot with its value axis, lines below it: step axis with marks, labels). All
    plot lines start with the value axis, whose labels are as wide as the longest needs."""
    height, width = sketch.dots.shape
    rows = [characters(sketch.dots[i : i + 4], unicode) for i in range(0, height, 4)]
    guide = next((c for c, n in sketch.marks.items() if n == 1), None)
    if guide is not None:
        bar = "┊" if unicode else "|"
        rows = [r if r[guide] != " " else r[:guide] + bar + r[guide + 1 :] for r in rows]
    middle = float(np.sqrt(sketch.low * sketch.high)) if sketch.log else (sketch.low + sketch.high) / 2
    values = {0: sketch.high, len(rows) // 2: middle, len(rows) - 1: sketch.low}
    names = dict(zip(values, distinct_labels(list(values.values())), strict=True))
    margin = max(len(n) for n in names.values())
    tick, line, corner = ("┤", "─", "└") if unicode else ("|", "-", "+")
    side = "│" if unicode else "|"
    lines = [
        f"{names.get(i, ''):>{margin}} {tick if i in names else side}{row}" for i, row in enumerate(rows)
    ]
    cross = "×" if unicode else "x"
    base = [cross if c in sketch.bad else line for c in range(width // 2)]
    for column, n in sketch.marks.items():
        base[column] = str(n) if n < 10 else "+"
    first, last = step(sketch.first), step(sketch.last)
    gap = max(width // 2 - len(first) - len(last), 1)
    below = [" " * (margin + 1) + corner + "".join(base), " " * (margin + 2) + first + " " * gap + last]
    return lines, below


def distinct_labels(values: list[float], digits: tuple[int, int] = (3, 9)) -> list[str]:
    """The values with the fewest digits that distinguish them, at least three."""
    fewest, most = digits
    names = [number(float(f"{v:.{fewest}g}")) for v in values]
    if len(set(names)) == len(set(values)):
        return names
    written = ([f"{v:.{n}g}" for v in values] for n in range(fewest + 1, most + 1))
    return next((w for w in written if len(set(w)) == len(set(values))), names)


def characters(dots: np.ndarray, unicode: bool) -> str:
    """One line of text from `dots[4, 2 * columns]`: braille, or . ' : for lower, upper, both halves."""
    cells = dots.reshape(4, -1, 2).transpose(1, 0, 2)
    if unicode:
        return "".join(chr(0x2800 + int(c)) if c else " " for c in (cells * BRAILLE).sum(axis=(1, 2)))
    halves = cells.reshape(-1, 2, 4).any(axis=2)  # [column, upper or lower]
    return "".join(" .':"[int(code)] for code in halves @ np.array([2, 1]))
