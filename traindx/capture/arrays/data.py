"""Facts about the data from the batches that pass by. Nothing of a sample is kept but hashes (see
`reservoir`)."""

import math
import zlib
from collections import deque
from functools import lru_cache
from typing import Any

import numpy as np

from traindx.capture.arrays.overlap import HeldOut
from traindx.redaction import round_outward
from traindx.vocabulary import Fact

Array = np.ndarray[Any, np.dtype[Any]]

READ = 1 << 16  # values of a batch that are read when it is looked at closely
PROBE = 256  # values of a batch that its hash is made of
SAMPLE_PROBE = 64  # values of a sample that its hash is made of
MOST_HASHES = 1 << 17  # hashes of training samples that are kept (1 MiB)
MOST_FEATURES, MOST_CLASSES = 4096, 1000
MOST_WORDS = (
    1 << 17
)  # kinds of labels that are counted; of more than MOST_CLASSES only their entropy is a fact
COMPLETE = 0.95  # share of training samples that were hashed before, from which nearly all are known
MOST_SIZES = 256  # batches whose largest values are kept
RECENT = 8  # batches back in which a repetition is looked for
FAR = 10.0  # standard deviations from its feature's mean beyond which a value is an outlier
ENOUGH = 20  # samples before which deviations are not known: of two that happen to be close, a third is far
IN_TURN = 0.75  # share of the batches of one class that are of another than the one before
CONSTANT = 1e-7  # spread over largest value below which a feature counts as constant


class Moments:
    """Running count, mean, spread and range of each feature; `values[n, features]`."""

    def __init__(self) -> None:
        self.rows, self.nonfinite, self.seen, self.outliers = 0, 0, 0, 0
        self.total: Array = np.zeros(0)
        self.squares: Array = np.zeros(0)
        self.low: Array = np.zeros(0)
        self.high: Array = np.zeros(0)
        self.sizes: list[float] = []  # of each batch, the median over features of the largest absolute value

    def add(self, values: Array) -> None:
        if values.shape[1] != len(self.total):
            if self.rows:
                return  # another kind of input: the first kind is described
            width = values.shape[1]
            self.total, self.squares = np.zeros(width), np.zeros(width)
            self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)
        total = values.sum(0, dtype=np.float64)
        self.seen += values.size
        if not np.isfinite(total).all():
            bad = ~np.isfinite(values)
            self.nonfinite += int(bad.sum())
            values = values[~bad.any(1)]
            total = values.sum(0, dtype=np.float64)
        if not len(values):
            return
        if self.rows >= ENOUGH:
            far = np.abs(values - self.mean) > FAR * np.maximum(self.std, 1e-12)
            self.outliers += int(far[:, ~self.constant].sum())
        self.rows += len(values)
        self.total += total
        self.squares += np.square(values, dtype=np.float64).sum(0)
        low, high = values.min(0).astype(np.float64), values.max(0).astype(np.float64)
        self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
        if len(self.sizes) < MOST_SIZES:
            largest = np.maximum(-low, high)
            there = largest[largest > 0]
            self.sizes.append(float(np.median(there)) if len(there) else 0.0)

    @property
    def mean(self) -> Array:
        return np.asarray(self.total / max(self.rows, 1))

    @property
    def std(self) -> Array:
        return np.asarray(np.sqrt(np.maximum(self.squares / max(self.rows, 1) - self.mean**2, 0)))

    @property
    def constant(self) -> Array:
        """Which features never changed over at least two samples."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        return np.asarray((self.high - self.low <= CONSTANT * size) & (self.rows > 1))

    def facts(self, name: str) -> dict[str, Fact]:
        if not self.rows:
            return {f"{name}_nonfinite": self.nonfinite} if self.nonfinite else {}
        varied = self.std[~self.constant] if not self.constant.all() else self.std
        return {
            f"{name}_features": len(self.total),
            f"{name}_mean_abs": float(np.abs(self.mean).mean()),
            f"{name}_mean_abs_max": float(np.abs(self.mean).max()),
            f"{name}_std_mean": float(self.std.mean()),
            f"{name}_std_min": float(varied.min()),
            f"{name}_std_max": float(varied.max()),
            f"{name}_std": float(np.sqrt(np.square(self.std).mean())),
            f"{name}_absmax_median": round_outward(float(np.median(self.sizes))),
            f"{name}_min": round_outward(float(self.low.min())),
            f"{name}_max": round_outward(float(self.high.max())),
            f"{name}_constant_features": int(self.constant.sum()),
            f"{name}_outlier_share": self.outliers / max(self.seen, 1),
            f"{name}_nonfinite": self.nonfinite,
            f"{name}_samples_read": self.rows,
        }


class Labels:
    """Counts of whole-number labels, and how mixed the batches are."""

    def __init__(self) -> None:
        self.counts: Array = np.zeros(0, np.int64)
        self.low, self.high = np.inf, -np.inf
        self.pairs, self.same = 0.0, 0.0
        self.negative, self.seen = 0, 0
        self.batches, self.single = 0, 0  # with at least two labels; of them, with one class only
        self.alternations, self._class = (
            0,
            -1,
        )  # batches of one class after one of another class; the last one's

    def add(self, labels: Array) -> None:
        labels = labels.reshape(-1)[:READ].astype(np.int64)
        self.seen += len(labels)
        self.low, self.high = min(self.low, labels.min()), max(self.high, labels.max())
        proper = labels[labels >= 0]
        self.negative += len(labels) - len(proper)
        if not len(proper) or proper.max() >= MOST_WORDS:
            return
        counts = np.bincount(proper, minlength=len(self.counts))
        if len(counts) > len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros(len(counts) - len(self.counts), np.int64)])
        self.counts = self.counts + counts
        self.batches += len(proper) > 1
        if len(proper) > 1 and counts.max() == len(proper):
            self.single += 1
            self.alternations += self._class not in (-1, int(proper[0]))
            self._class = int(proper[0])
        self.pairs += len(proper) * (len(proper) - 1.0)
        self.same += float((counts * (counts - 1.0)).sum())

    def facts(self) -> dict[str, Fact]:
        if not self.seen:
            return {}
        out: dict[str, Fact] = {
            "label_min": int(self.low),
            "label_max": int(self.high),
            "label_negative_share": self.negative / self.seen,
        }
        there = self.counts[self.counts > 0]
        if not len(there):
            return out
        total = float(there.sum())
        # A sample of many words shows too few of them (Miller and Madow's correction).
        entropy = float(-(there / total * np.log(there / total)).sum() + (len(there) - 1) / (2 * total))
        if len(self.counts) > MOST_CLASSES:
            return out | {"label_entropy": entropy}
        out["label_entropy"] = min(entropy, math.log(len(there)))  # that of classes in equal numbers
        chance = float(((there / total) * ((there - 1) / max(total - 1, 1))).sum())
        out |= {
            "classes_seen": len(there),
            "classes_missing": int(len(self.counts) - len(there)),
            "class_counts_max_min_ratio": float(there.max() / there.min()),
            "class_majority_share": float(there.max() / total),
        }
        if self.batches:
            out["batch_single_class_share"] = self.single / self.batches
        # Of samples and made-up ones in turn, an all-ones and an all-zeros batch, the program writes the labels.
        made = (
            len(there) == 2
            and self.single == self.batches
            and self.alternations > IN_TURN * (self.batches - 1)
        )
        if self.pairs and chance < 1 and self.pairs < total * (total - 1) and not made:
            out["batch_class_purity"] = float(
                np.clip((self.same / self.pairs - chance) / (1 - chance), -1, 1)
            )
        return out


class Batches:
    """Repetition of batches, and samples that training and validation share, by hashes."""

    def __init__(self) -> None:
        self.seen, self.repeated = 0, 0
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._known: set[int] = set()
        self._training: set[int] = set()
        self._held_out = HeldOut()
        self._known_before: deque[float] = deque(maxlen=RECENT)  # shares of the samples of the last batches
        self.missed = 0  # training batches that there was no time for
        self._within, self._samples = 0, 0

    def add(self, inputs: Array, targets: Array | None) -> None:
        mark = _batch_hash(inputs)
        if targets is not None:
            mark = zlib.crc32(np.ascontiguousarray(targets.reshape(-1)[:PROBE]).tobytes(), mark)
        self.seen += 1
        self.repeated += mark in self._recent
        self._recent.append(mark)
        if len(self._known) < MOST_HASHES:
            self._known.add(mark)

    def samples(self, inputs: Array, training: bool, source: object = None, trained: bool = False) -> None:
        """Hash the samples of a batch. `source`, `trained`: as for `HeldOut.add`."""
        marks = sample_hashes(inputs)
        if not training:
            self._held_out.add(marks, source, trained)
            return
        if len(self._training) < MOST_HASHES:
            before = len(self._training)
            self._training.update(marks.tolist())
            self._known_before.append(1 - (len(self._training) - before) / len(marks))
        self._samples += len(marks)
        self._within += len(marks) - len(np.unique(marks))

    def passed_over(self, training: bool, source: object = None, trained: bool = False) -> None:
        """A batch that there was no time for."""
        if training:
            self.missed += 1
        elif not trained:
            self._held_out.passed_over.add(source)

    def facts(self) -> dict[str, Fact]:
        if not self.seen:
            return {}
        out: dict[str, Fact] = {
            "batches_seen": self.seen,
            "batches_distinct": len(self._known),
            "batches_repeat_share": self.repeated / self.seen,
        }
        if self._samples:
            out["batch_duplicate_samples_share"] = self._within / self._samples
            out["train_samples_hashed"] = len(self._training)
        known = sum(self._known_before) / max(len(self._known_before), 1)
        return out | self._held_out.facts(self._training, complete=not self.missed or known >= COMPLETE)


def _batch_hash(values: Array) -> int:
    """Hash of evenly spread values of a batch. The stride shares no factor with the length of a sample:
    otherwise the same few features (a dead pixel) of all samples would represent the batch."""
    flat = values.reshape(-1)
    length, stride = len(flat) // max(len(values), 1), max(1, len(flat) // PROBE)
    while length and math.gcd(stride, length) > 1:
        stride += 1
    return zlib.crc32(np.ascontiguousarray(flat[::stride]).tobytes(), len(flat))


def sample_hashes(values: Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """`hash[n]` of the samples of a batch: a fixed odd-weighted sum of the bits of SAMPLE_PROBE
    evenly spread values, mixed once. Samples that are equal have equal hashes."""
    rows = values.reshape(len(values), -1)
    stride = max(1, rows.shape[1] // SAMPLE_PROBE)
    part = rows[:, ::stride].astype(np.float64)
    bits = np.ascontiguousarray(part + 0.0).view(np.uint64)  # + 0.0: -0 and 0 are the same sample
    mixed = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)  # small whole numbers differ in their highest bits only
    total = (mixed * _weights(bits.shape[1])).sum(1, dtype=np.uint64)
    return np.asarray((total ^ (total >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9))


@lru_cache(maxsize=8)
def _weights(count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Odd numbers without structure (splitmix64): with regular ones, sums of equal bits collide."""
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((state ^ (state >> np.uint64(31))) | np.uint64(1))


def by_feature(values: Array) -> Array:
    """`[n, features]`: columns of a table, channels of images (second dimension), the last
    dimension of sequences; everything as one feature where there are more than MOST_FEATURES."""
    if values.ndim == 1:
        return values.reshape(-1, 1)[:READ]
    keep = max(1, READ * len(values) // max(values.size, 1))
    part = values[:keep]
    if part.ndim > 3:
        part = np.moveaxis(part, 1, -1)
    part = part.reshape(-1, part.shape[-1])
    return part if part.shape[1] <= MOST_FEATURES else part.reshape(-1, 1)
