"""How a held-out curve behaves after its best point, and compared with the training curve."""

import msgspec
import numpy as np

from traindx.features.statistics import block_edges, block_medians, median, running_median
from traindx.vocabulary import Floats, threshold

BLOCKS = 60  # longer curves are looked at as this many block medians


class Rise(msgspec.Struct, frozen=True):
    """What a curve (lower is better) does after its low point.

    `at`, index of the low point, its level `low`, the highest level `peak` after it and the level `end` at
    the end; `noise`, what a fall followed by a rise leaves unexplained (sigma of one block, 0 for a smooth
    curve); `after`, blocks behind the low point; `order`, Kendall's tau of these against time; `above`, the
    share of their later half that is above the low by at least a quarter of the rise. `first` is the level
    at the start; `apart`, the share of pairs of a point around the low and one of the last third of which
    the later one is higher (Mann and Whitney's U), which no size of noise distorts; 0 for fewer than three
    of either."""

    at: int
    low: float
    peak: float
    end: float
    first: float
    noise: float
    after: int
    order: float
    above: float
    apart: float

    @property
    def size(self) -> float:
        return self.end - self.low

    @property
    def z(self) -> float:
        """Rise at the end over the noise; infinite where there is none."""
        return self.size / self.noise if self.noise > 0 else float(np.inf) * float(np.sign(self.size) or 1.0)

    @property
    def share_kept(self) -> float:
        """Share of the highest rise that is still there at the end."""
        return self.size / (self.peak - self.low) if self.peak > self.low else 0.0


def rise_after_low(values: Floats) -> Rise | None:
    """The rise of `values[n]` after its low point; None for fewer than 4 points."""
    n = len(values)
    if n < 4:
        return None
    blocked = n > 2 * BLOCKS
    y = block_medians(values, BLOCKS) if blocked else values
    m = len(y)
    smooth = median_of_three(y) if m >= 9 else y
    bottom = int(np.argmin(smooth))
    low, tail = float(smooth[bottom]), y[bottom + 1 :]
    end = float(median(y[-min(max(2, m // 10), max(m - 1 - bottom, 1)) :]))
    edges = block_edges(n, BLOCKS) if blocked else np.arange(n + 1)
    near = 1 if m >= 9 else 0  # the running median may have moved the low point by one
    at = lowest(values, int(edges[max(bottom - near, 0)]), int(edges[min(bottom + 1 + near, m)]), low)
    return Rise(
        at=at,
        low=low,
        peak=float(smooth[bottom:].max()),
        end=end,
        first=float(y[0]),
        noise=valley_noise(y, bottom),
        after=len(tail),
        order=kendall(tail),
        above=float(np.mean(tail[len(tail) // 2 :] > low + 0.25 * (end - low))) if len(tail) else 0.0,
        apart=rank_separation(y, bottom),
    )


def rank_separation(values: Floats, bottom: int) -> float:
    """Mann and Whitney's U, as a share, of the last third of `values[n]` over those around index
    `bottom`."""
    reach = max(1, len(values) // 8)
    around = values[max(0, bottom - reach) : bottom + reach + 1]
    late = values[max(bottom + reach + 1, len(values) - len(values) // 3) :]
    if min(len(around), len(late)) < 3:
        return 0.0
    return float(np.mean(late[:, None] > around[None, :]))


def lowest(values: Floats, start: int, stop: int, level: float) -> int:
    """Index of the lowest of a few points; of many, of the one nearest to `level` (the lowest would be an
    outlier)."""
    part = values[start:stop]
    return start + int(np.argmin(part if len(part) <= 3 else np.abs(part - level)))


def median_of_three(values: Floats) -> Floats:
    """Running median over three points, ends kept."""
    out = running_median(values, 3)
    out[[0, -1]] = values[[0, -1]]  # a low at the very end counts
    return out


def valley_noise(values: Floats, bottom: int) -> float:
    """Sigma of `values[n]` around the best curve that only falls up to index `bottom` and only rises
    after it (isotonic regression on both sides), from the mean absolute residual, with the levels
    that the fit used taken off the degrees of freedom. Slow wobble counts as noise, trend does not."""
    left = -isotonic(-values[: bottom + 1])
    fit = np.concatenate([left, isotonic(values[bottom:])[1:]])
    levels = 1 + int(np.count_nonzero(np.diff(fit)))
    n = len(values)
    return 0.0 if levels >= n else float(1.2533 * np.mean(np.abs(values - fit)) * n / (n - levels))


def isotonic(values: Floats) -> Floats:
    """Non-decreasing least-squares fit of `values[n]` (pool adjacent violators: Ayer et al., Ann. Math.
    Stat. 26 (1955) 641). O(n)."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            mean = (mean * size + means[-1] * sizes[-1]) / (size + sizes[-1])
            size += sizes.pop()
            means.pop()
        means.append(mean)
        sizes.append(size)
    return np.repeat(np.array(means, dtype=np.float64), sizes)


MOST_ORDERED = 1000


def kendall(values: Floats) -> float:
    """Kendall's tau of `values[n]` against their order: 1 always rising, -1 always falling, 0 for n < 2. Every pair
    is compared, so that of more than MOST_ORDERED values it is that of as many block medians."""
    values = block_medians(values, MOST_ORDERED) if len(values) > MOST_ORDERED else values
    n = len(values)
    if n < 2:
        return 0.0
    return float(np.triu(np.sign(values[None, :] - values[:, None]), 1).sum()) / (n * (n - 1) / 2)


class Hump(msgspec.Struct, frozen=True):
    """A rise of a curve (lower is better) that was taken back: low points and levels before, at and after
    the top, `noise` as in `Rise`, and `width`, the share of the points that are above half of the hump."""

    before: int
    top: int
    low: float
    high: float
    end: float
    first: float
    noise: float
    width: float


def hump(values: Floats) -> Hump | None:
    """The highest rise of `values[n]` above an earlier low that came down again; None for n < 8, or none."""
    n = len(values)
    if n < 8:
        return None
    blocked = n > 2 * BLOCKS
    y = block_medians(values, BLOCKS) if blocked else values
    smooth = median_of_three(y)
    m = len(y)
    lows = np.minimum.accumulate(smooth)
    falls = smooth - np.minimum.accumulate(smooth[::-1])[::-1]
    height = np.minimum(smooth - lows, falls)
    top = int(np.argmax(height))
    if height[top] <= 0:
        return None
    before = int(np.argmin(smooth[: top + 1]))
    after = top + int(np.argmin(smooth[top:]))
    rising, falling = valley_noise(y[: top + 1], before), valley_noise(y[top:], after - top)
    level = float(smooth[before])
    edges = block_edges(n, BLOCKS) if blocked else np.arange(n + 1)
    return Hump(
        before=int(edges[before]),
        top=int(edges[top]),
        low=level,
        high=float(smooth[top]),
        end=float(median(y[-max(2, m // 10) :])),
        first=float(y[0]),
        noise=max(rising, falling),
        width=float(np.mean(smooth[before:] > level + height[top] / 2)) * (m - before) / m,
    )


def index_reaching(values: Floats, share: float) -> int:
    """Index from which `values[n]` (lower is better, noise removed) has made `share` of the way from its
    first to its lowest value."""
    return int(np.argmax(values <= values[0] - share * (values[0] - values.min())))


def index_of_return(values: Floats, level: float, start: int) -> int:
    """First index from `start` on at which `values[n]` is at or below `level`; n where it never is."""
    below = np.flatnonzero(values[start:] <= level)
    return start + int(below[0]) if len(below) else len(values)


def final_level(values: Floats) -> float:
    """The level at the end: the median of the last sixteenth, at least of three points."""
    return float(median(values[-tail(len(values)) :]))


def tail(points: int) -> int:
    """How many points are the end."""
    return max(3, points // (4 * 4))


def best_long_ago(
    val: Floats,
    train: Floats,
    *,
    enough: float = threshold(
        8, "evaluations", basis="convention", source="half of them no better is no chance"
    ),
    fall: float = threshold(0.3, "of the training loss", basis="convention", source="a fall that one sees"),
    apart: float = threshold(2.0, "x the training loss", basis="convention", source="a gap that one sees"),
) -> int | None:
    """Where a few validation losses `val[n]` were best, if that is in their first half, however much they scatter,
    and the training loss at their steps, `train[n]`, fell far below them since; None otherwise."""
    low, later = int(np.argmin(val)), float(median(train[-2:]))
    if len(val) < enough or low > len(val) // 2 or later > (1 - fall) * train[low]:
        return None
    return low if float(median(val[-3:])) >= apart * later else None


def describe_course(then: float, now: float) -> str:
    """How a curve went, in words."""
    if f"{then:.4g}" == f"{now:.4g}":
        return f"stayed at {now:.4g}"
    return f"{'fell' if now < then else 'rose'} from {then:.4g} to {now:.4g}"
