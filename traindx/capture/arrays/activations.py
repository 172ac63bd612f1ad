"""What a module puts out for a batch: moments, silent units, saturation, dependence on the input.

At most SAMPLE values of an output are read (whole samples, beginning further on each time)."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Kind = Literal["", "rectifier", "squasher", "tanh output", "sigmoid output"]
Array = np.ndarray[Any, np.dtype[Any]]

SAMPLE = 1 << 14  # values of an output that are read
SMALL = 1e-15  # sums of squares below this have squares that are zero in single precision
RANK_ROWS, RANK_COLUMNS = 32, 128  # samples and features that the effective rank is taken of
ENOUGH = 64  # samples after which a unit that was never active counts as silent
SATURATED = 3.0  # |pre-activation| beyond which tanh and sigmoid are flat
TANH_EDGE, SIGMOID_EDGE = float(np.tanh(SATURATED)), float(1 / (1 + np.exp(-SATURATED)))


@dataclass
class Units:
    """Which units of a rectifier were active: since the last turn, and in the turn before it."""

    now: Any = None
    before: Any = None
    samples: int = 0
    known: bool = field(default=False)

    def add(self, largest: Any, samples: int) -> None:
        """`largest[units]` over some samples."""
        active = largest > 0
        if self.now is None or self.now.shape != active.shape:
            self.now, self.before, self.samples, self.known = active, None, 0, False
        self.now = self.now | active
        self.samples += samples
        if self.samples >= ENOUGH:
            self.before, self.now, self.samples, self.known = self.now, active, 0, True

    def silent(self) -> Any:
        """Share of units that no sample made active (a tensor on its device); NaN before enough samples."""
        if not self.known:
            return float("nan")
        active = self.before | self.now
        if isinstance(active, np.ndarray):
            return 1.0 - np.count_nonzero(active) / active.size
        return 1 - active.float().mean()


def rows_of(output: Any, turn: int) -> Any:
    """Some whole samples (first dimension) of an output, a tensor or an array: at most SAMPLE
    values, at least one."""
    if output.ndim < 2:
        return output.reshape(-1, 1)[:SAMPLE]
    length, size = len(output), math.prod(output.shape)
    count = max(1, min(length, SAMPLE * length // max(size, 1)))
    start = turn * count % max(length - count + 1, 1)
    return output[start : start + count]


def largest_by_unit(rows: Any, channels_second: bool) -> Any:
    """`largest[units]`: the maximum of each unit over samples and positions. Units are the second
    dimension of images and convolutions, the last one of everything else."""
    if rows.ndim > 3 or (rows.ndim == 3 and channels_second):
        flat = rows.reshape(rows.shape[0], rows.shape[1], -1)
        return flat.max(2).max(0) if isinstance(flat, np.ndarray) else flat.amax((0, 2))
    flat = rows.reshape(-1, rows.shape[-1])
    return flat.max(0) if isinstance(flat, np.ndarray) else flat.amax(0)


def output_statistics(rows: Array, kind: Kind, before: Array | None, part: Array | None) -> list[float]:
    """The six FIELDS of an output on the CPU. `rows` from `host_rows`; `before`: the same rows of the
    pre-activation of a squasher; `part`: what `rank_part` takes of the output, where its rank is wanted."""
    values = rows.ravel("K")
    count = len(values)
    saturated = _saturated(values, kind, before) if kind else math.nan
    rank = math.nan if part is None else effective_rank(part)
    squares = float(np.dot(values, values))
    if squares - squares != 0:
        with np.errstate(all="ignore"):
            return [*_moments_in_double(values), saturated, rank]
    mean = float(np.add.reduce(values)) / count
    std = max(squares / count - mean * mean, 0.0) ** 0.5
    largest = max(float(np.maximum.reduce(values)), -float(np.minimum.reduce(values)))
    return [mean, std, largest, 0.0, saturated, rank]


def _moments_in_double(values: Array) -> list[float]:
    """Where values are not finite, or their squares are too large for single precision."""
    mean = float(np.mean(values, dtype=np.float64))
    std = max(square_sum(values) / len(values) - mean * mean, 0.0) ** 0.5
    return [mean, std, max(float(values.max()), -float(values.min())), float(nonfinite(values))]


def _saturated(values: Array, kind: Kind, before: Array | None) -> float:
    if kind == "squasher" and before is not None:
        return float(np.count_nonzero(np.abs(before) > SATURATED)) / max(before.size, 1)
    if kind == "tanh output":
        return float(np.count_nonzero(np.abs(values) > TANH_EDGE)) / len(values)
    if kind == "sigmoid output":
        return float(np.count_nonzero(np.abs(values - 0.5) > SIGMOID_EDGE - 0.5)) / len(values)
    return float("nan")


def rank_part(output: Any) -> Any:
    """The samples and features (of an output, tensor or array) whose rank is taken: RANK_ROWS by
    RANK_COLUMNS at most, evenly spread features. None where there are too few samples."""
    if output.ndim < 2 or len(output) < 4:
        return None
    features = output[:RANK_ROWS].reshape(min(len(output), RANK_ROWS), -1)
    return features[:, :: max(1, features.shape[1] // RANK_COLUMNS)][:, :RANK_COLUMNS]


def effective_rank(part: Array | None) -> float:
    """Participation ratio of the covariance over the samples of a `rank_part`, (sum of eigenvalues)^2 / sum
    of their squares: 1 when outputs lie on a line, 0 when they are the same for every sample (to
    rounding), at most RANK_ROWS - 1. NaN below four samples. Needs no eigenvalues: both sums are traces."""
    # The product is of two arrays, and small: a product of a matrix with its own transpose, or a larger one,
    # is given to threads that wait for processors which the training keeps busy.
    if part is None:
        return float("nan")
    level = square_sum(part.ravel())
    if level - level != 0:
        return float("nan")
    if level < SMALL:
        peak = float(np.maximum.reduce(np.abs(part.ravel())))
        if not peak:
            return 0.0
        part = np.divide(part, peak, dtype=np.float64)
        level = square_sum(part.ravel())
    centred = part - np.add.reduce(part, 0) / len(part)
    gram = np.dot(centred, centred.T.copy()).ravel()
    trace = square_sum(centred.ravel())
    return 0.0 if trace <= 1e-10 * level else trace * trace / square_sum(gram)


def square_sum(values: Array) -> float:
    """Sum of squares; in double precision where single overflows; NaN or infinity when the values
    hold any that are not finite."""
    found = float(np.dot(values, values))
    if found - found == 0:
        return found
    with np.errstate(over="ignore", invalid="ignore"):  # the user's stderr stays the user's
        return float(np.square(values, dtype=np.float64).sum())


def nonfinite(values: Array) -> int:
    """How many values are NaN or infinite (slow: called when a sum already says that some are)."""
    return int(len(values) - np.count_nonzero(np.isfinite(values)))
