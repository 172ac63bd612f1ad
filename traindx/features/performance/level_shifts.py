"""Step times, memory and loss scales: levels that shift, grow or are broken by single outliers.

Arrays in, arrays out. All of it works on row numbers, so that the unit of the step axis is of no
account; long inputs are condensed to block medians first.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.shared import Features
from traindx.features.statistics import (
    block_edges,
    block_medians,
    difference_noise,
    median,
    quantile,
    rank_correlation,
    robust_sigma,
    running_median,
)
from traindx.vocabulary import Bools, Floats, Ints

# Parts of a signal's name that say how much work one step does.
SHORTEST = 1e-30  # seconds; what is below is no time, and so is what is above its inverse
WORK_WORDS = ("batch_size", "seq", "length", "tokens_per", "resolution", "image_size")


def stretches(mask: Bools, least: int = 1) -> list[tuple[int, int]]:
    """Half-open ranges `(start, stop)` of consecutive true entries of `mask[n]`, at least `least` long."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= least]


def start_up(n: int, share: float) -> int:
    """How many of `n` rows belong to the start: `share` of them, at least one, never more than a third."""
    return int(min(max(share * n, 1), n // 3))


def condense(values: Floats, limit: int = 1000) -> tuple[Floats, Ints]:
    """`limit` block medians of `values[n]` (or the values themselves, up to four times as many), and the row
    number at which each block starts."""
    if len(values) <= 4 * limit:
        return values, np.arange(len(values))
    return block_medians(values, limit), block_edges(len(values), limit)[:-1]


def work_signals(names: Iterable[str]) -> list[str]:
    """The signals among `names` that measure how much work a step does (batch size, sequence length ...)."""
    return [n for n in names if any(word in n.lower() for word in WORK_WORDS)]


def shares(part: Floats, whole: Floats) -> Floats:
    """`part[n]` as a share of `whole[n]`, in 0..1. Where the part mostly exceeds the whole, the two were
    measured side by side, and it is taken as a share of their sum."""
    if len(part) and float(median(part - whole)) > 0:
        whole = whole + part
    return np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole > SHORTEST), 0.0, 1.0)


class Duration(msgspec.Struct, frozen=True):
    """How long a step took: `seconds[n]` at `steps[n]`; `signal` is what it was read from. From a throughput
    it is the time for one sample or token."""

    signal: str
    steps: Floats
    seconds: Floats


def durations(features: Features) -> Duration:
    """Step times as logged, or else the inverse of the throughput; empty when neither is known. Less the
    time that a step was without a processor, where that is known: what else runs on a machine says nothing
    of the training."""
    return features.derived("durations", lambda: read_durations(features))


def read_durations(features: Features) -> Duration:
    for name in ("time/step", "throughput"):
        curve = features.curve(name)
        if curve is None:
            continue
        queued = features.curve("time/queued") if name == "time/step" else None
        every = curve.values if queued is None or not queued.n else without_queue_time(curve, queued)
        real = (every > SHORTEST) & (every < 1 / SHORTEST)
        if real.any():
            steps, values = curve.steps[real], every[real]
            if name == "throughput":
                return Duration(name, steps, 1.0 / values)
            if is_clock(steps, values):
                return Duration(name, steps[1:], np.diff(values) / np.diff(steps))
            return Duration(name, steps, values)
    return Duration("time/step", np.empty(0), np.empty(0))


def without_queue_time(curve: Curve, queued: Curve) -> Floats:
    """Step times less what of them was spent without a processor; a step of which that is not known is
    kept."""
    taken = np.where(np.isin(curve.steps, queued.steps), queued.at_steps(curve.steps), 0.0)
    return curve.values - taken


def is_clock(steps: Floats, seconds: Floats) -> bool:
    """Whether `seconds[n]` are the time since the start rather than that of a step: at least eight of them,
    always rising, and in the later half nearly proportional to the step."""
    half = len(steps) // 2
    if len(steps) < 8 or np.any(np.diff(seconds) <= 0) or np.any(np.diff(steps) <= 0) or steps[half] <= 0:
        return False
    rate = seconds[half:] / steps[half:]
    return bool(np.ptp(rate) <= 0.2 * median(rate) and seconds[-1] >= 1.2 * seconds[half])


def work_grows(features: Features, duration: Duration, first: float, last: float, ratio: float) -> bool:
    """Whether the work of a step explains that it took `ratio` times as long at step `last` as at `first`:
    one of the run's work signals (batch size, sequence length ...) grew at least by the square root of it. A
    time for one sample does not depend on the batch."""
    if duration.signal == "throughput":
        return False
    curves = [features.curve(name) for name in work_signals(features.run.series)]
    pairs = [c.at_steps(np.array([first, last])) for c in curves if c is not None and c.n]
    return any(a > 0 and b >= np.sqrt(ratio) * a for a, b in pairs)


class Level(msgspec.Struct, frozen=True):
    """Rows `start` to `stop` (half-open) at one level (median of the values)."""

    start: int
    stop: int
    value: float


def levels(values: Floats, *, least: float, score: float, margin: int) -> list[Level]:
    """Cut `values[n]` into stretches of constant level: candidates by binary segmentation on the cumulative
    sums (Scott and Knott 1974), then the weakest is taken back until every one that is left separates levels
    `least` apart (units of the values) and `score` times their noise. Isolated outliers of up to two rows
    are removed first (running median of five); both sides of a candidate have `margin` rows."""
    y, first = condense(values)
    noise = difference_noise(y)
    if len(y) >= 7:
        y = running_median(y, 5)
    bounds = [
        0,
        *sorted(candidates(y, 0, len(y), max(margin * len(y) // max(len(values), 1), 2), 4)),
        len(y),
    ]
    known: dict[tuple[int, int], tuple[float, float]] = {}
    while len(bounds) > 2:
        for a, b in pairwise(bounds):
            if (a, b) not in known:
                known[a, b] = float(median(y[a:b])), max(robust_sigma(y[a:b]), noise)
        sides = pairwise([known[part] for part in pairwise(bounds)])
        apart = [abs(v - u) / max(least, score * max(s, t)) for (u, s), (v, t) in sides]
        weakest = int(np.argmin(apart))
        if apart[weakest] >= 1:
            break
        del bounds[weakest + 1]
    rows = [0, *(int(i) for i in first[bounds[1:-1]]), len(values)]
    return [Level(a, b, float(median(values[a:b]))) for a, b in pairwise(rows)]


def is_stairs(values: Floats, found: Sequence[Level]) -> bool:
    """Whether the rows of several levels that were `found` (in `values[n]` or a function of them) are stairs
    rather than parts of one ramp: their medians explain the values at least as well as a straight line does,
    by the sum of absolute distances after a running median of five."""
    if len(found) < 2:
        return False
    y, first = condense(values)
    y = running_median(y, 5) if len(y) >= 7 else y
    at = np.arange(len(y), dtype=np.float64)
    line = np.polyval(np.polyfit(at, y, 1), at)
    stairs = np.empty(len(y))
    for level in found:
        inside = (first >= level.start) & (first < level.stop)
        stairs[inside] = median(y[inside]) if inside.any() else 0.0
    return bool(np.abs(y - line).sum() >= np.abs(y - stairs).sum())


def candidates(y: Floats, a: int, b: int, margin: int, depth: int) -> list[int]:
    """Where to cut `y[a:b]`: the cut that explains most variance, then the same on both sides, `depth`
    times."""
    n = b - a
    if n < 2 * margin or depth == 0:
        return []
    sums = np.cumsum(y[a:b])
    k = np.arange(margin, n - margin + 1)
    gain = (sums[k - 1] - sums[-1] * k / n) ** 2 / (k * (n - k))
    at = a + int(k[int(np.argmax(gain))])
    return [at, *candidates(y, a, at, margin, depth - 1), *candidates(y, at, b, margin, depth - 1)]


class Growth(msgspec.Struct, frozen=True):
    """How `values` grew: `ratio` last over first level, `correlation` of level and time (Spearman), `late`
    the share of the whole growth that happened in the last third (1/3 for a straight line, 0 when it
    saturates), `rises` the share of late blocks that are above the one before, `leap` the share of the
    growth in the greatest rise from one value to the next, single outliers aside (1 for a single jump,
    wherever it is)."""

    first: float
    last: float
    correlation: float
    late: float
    rises: float
    leap: float

    @property
    def ratio(self) -> float:
        return self.last / self.first if self.first > 0 else float("inf") if self.last > 0 else 1.0


def growth(values: Floats, blocks: int = 30, *, floor: bool = False) -> Growth:
    """Growth of `values[n]`, n >= 3, judged on block medians (single outliers do not count); with `floor` on
    the lower envelope, which other work on the same machine can only raise."""
    count = max(3, min(blocks, len(values) // 3 or 3))
    y = floors(values, count) if floor else block_medians(values, count)
    third = max(1, len(y) // 3)
    total = float(y[-1] - y[0])
    late = float(y[-1] - y[-1 - third]) / total if total else 0.0
    rises = float(np.mean(np.diff(y[-1 - third :]) > 0))
    leap = float(np.diff(running_median(values, 3)).max()) / total if total > 0 else 0.0
    return Growth(
        float(y[0]), float(y[-1]), rank_correlation(np.arange(len(y), dtype=float), y), late, rises, leap
    )


def floors(values: Floats, blocks: int = 30, low: float = 0.1) -> Floats:
    """The `low` quantile of each of `blocks` consecutive blocks of `values[n]`: what the steps take that
    nothing disturbs."""
    return np.array([quantile(values[a:b], low) for a, b in pairwise(block_edges(len(values), blocks))])


def never_falls(values: Floats) -> bool:
    """Whether `values[n]` never goes down: a maximum so far rather than a reading."""
    return bool(np.all(np.diff(values) >= 0))


class Slow(msgspec.Struct, frozen=True):
    """Rows that took much longer than their neighbours, the level around them, and the share of the whole
    time that they took beyond it."""

    rows: Ints
    base: Floats
    excess: float


def isolated_slow(times: Floats, *, factor: float, longest: int, skip: int) -> Slow:
    """Rows of `times[n]` above `factor` times the level around them (median of a fortieth), in stretches of
    at most `longest` rows, after the first `skip`."""
    edges = block_edges(len(times), max(min(40, len(times) // 10), 1))
    middles = (edges[:-1] + edges[1:] - 1) / 2
    base = np.maximum(
        np.interp(np.arange(len(times)), middles, block_medians(times, len(middles))), SHORTEST
    )
    mask = times > factor * base
    mask[:skip] = False
    for a, b in stretches(mask, longest + 1):
        mask[a:b] = False
    rows = np.flatnonzero(mask)
    total = float(times[skip:].sum())
    return Slow(rows, base, float((times - base)[rows].sum()) / total if total > 0 else 0.0)


def periodic(rows: Ints, *, tolerance: float) -> bool:
    """Whether `rows` (ascending row numbers) come at regular intervals: at least three gaps, of which nine
    in ten are within `tolerance` (of the period) of a whole multiple of the smallest common gap."""
    gaps = np.diff(rows)
    if len(gaps) < 3:
        return False
    period = float(median(gaps))
    multiple = gaps / period
    off = np.abs(multiple - np.maximum(np.round(multiple), 1.0))
    return bool(np.mean(off <= max(tolerance, 1.0 / period if period > 4 else 0.0)) >= 0.9)


def is_near(steps: Floats, others: Floats) -> Bools:
    """For each of `steps[n]` (ascending) whether one of `others` is in the interval that ends there or in
    the one that begins there. Shape `[n]`."""
    if len(steps) < 2 or len(others) == 0:
        return np.zeros(len(steps), dtype=bool)
    others = np.sort(others)
    before = np.concatenate([[2 * steps[0] - steps[1]], steps[:-1]])
    after = np.concatenate([steps[1:], [2 * steps[-1] - steps[-2]]])
    count = np.searchsorted(others, after, side="left") - np.searchsorted(others, before, side="right")
    return np.asarray(count > 0)


def halvings(scale: Floats) -> Floats:
    """How many halvings of `scale[n]` (positive) are between each row and the one before; negative where it
    grew. Shape `[n]`, first entry 0."""
    logs = np.log2(scale)
    return -np.diff(logs, prepend=logs[:1])


def settling_row(scale: Floats, *, rows: int) -> int | None:
    """Row at which the search for the first loss scale ends: from there on `rows` rows pass without a fall.
    None when that never happens."""
    falls = np.flatnonzero(halvings(scale) > 0)
    starts = np.concatenate([[0], falls])
    stops = np.concatenate([falls, [len(scale)]])
    quiet = np.flatnonzero(stops - starts >= rows)
    return int(starts[quiet[0]]) if len(quiet) else None


def events_per_row(counts: Floats) -> Floats:
    """Events per row from `counts[n]`, which either says how many there were since the row before, or (when
    it never falls and ends higher than it began) how many there were so far."""
    if len(counts) > 1 and never_falls(counts) and counts[-1] > counts[0]:
        return np.diff(counts, prepend=counts[:1])
    return counts
