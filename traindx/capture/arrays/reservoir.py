"""A few of the training samples, kept while a run is recorded, so that simple predictors can be fitted when
it is over. Nothing of them is written: only how well those predictors do."""

from __future__ import annotations

import time

import numpy as np

from traindx.capture.arrays.data import Array
from traindx.features.comparisons import simple_predictors
from traindx.vocabulary.setup import Fact

MOST_SAMPLES, MOST_VALUES, MOST_TARGETS = 2000, 256, 8  # kept: samples, values of each, targets of each
MOST_CLASSES, MOST_TOKENS = 200, 2048  # kinds of labels, and of tokens


class Reservoir:
    """The first training samples that are read, with their targets."""

    def __init__(self) -> None:
        self._waiting: Array | None = None  # inputs whose targets are reported later
        self._kept: list[tuple[Array, Array]] = []
        self._count = 0

    def add(self, inputs: Array | None, targets: Array | None) -> None:
        """A training batch, or one half of it: targets may be reported after the inputs."""
        if self._count >= MOST_SAMPLES:
            return
        if inputs is not None:
            self._waiting = spread(inputs) if inputs.ndim > 1 else inputs[:, None].copy()
        if targets is None or self._waiting is None:
            return
        given, self._waiting = self._waiting, None
        if targets.size > max(MOST_VALUES, MOST_TARGETS) * len(targets):
            return  # pictures and the like, which no simple predictor makes
        if given.dtype.kind in "iu" and targets.size == given.size:
            targets = targets.reshape(given.shape)  # of tokens, flattened for the loss
        if len(given) == len(targets) and (not self._kept or same_kind(self._kept[0], given, targets)):
            self._kept.append((given, targets.copy()))
            self._count += len(given)

    def facts(self) -> dict[str, Fact]:
        """What the simple predictors reach, under the names of docs/capture.md."""
        kept, self._kept = self._kept, []
        if not kept:
            return {}
        began = time.perf_counter()
        inputs, targets = (np.concatenate(parts)[:MOST_SAMPLES] for parts in zip(*kept, strict=True))
        first = np.sort(
            np.unique(inputs, axis=0, return_index=True)[1]
        )  # of an epoch before, a sample is known
        inputs, targets = inputs[first], targets[first]
        with np.errstate(all="ignore"):
            found = levels(inputs, targets)
        return {**found, "reference_seconds": round(time.perf_counter() - began, 4)} if found else {}


def levels(inputs: Array, targets: Array) -> dict[str, Fact]:
    """Facts of `inputs[n, f]` and `targets[n, ...]`; none of what no simple predictor is for."""
    whole = targets.dtype.kind in "iub"
    sequences = (
        inputs.dtype.kind in "iu" and whole and targets.ndim > 1 and targets.shape[1] == inputs.shape[1]
    )
    if sequences and max(inputs.max(), targets.max()) < MOST_TOKENS:
        entropies = simple_predictors.of_tokens(
            inputs.reshape(-1).astype(np.int64), targets.reshape(-1).astype(np.int64)
        )
        names = ("reference_unigram_entropy", "reference_bigram_entropy")
        return {} if entropies is None else dict(zip(names, entropies, strict=True))
    flat = targets.reshape(len(targets), -1)
    values = counted(inputs) if inputs.dtype.kind in "iu" else inputs.astype(np.float64)
    if values is None or not np.isfinite(values).all() or flat.shape[1] > MOST_TARGETS:
        return {}
    yes_or_no = flat.shape[1] == 1 and bool(((flat == 0) | (flat == 1)).all())
    if flat.shape[1] == 1 and (whole or yes_or_no):
        labels = flat[:, 0].astype(np.int64)
        found = simple_predictors.of_classes(values, labels) if labels.max() < MOST_CLASSES else None
        kind = "accuracy"
    else:
        wanted = flat.astype(np.float64)
        found, kind = (
            simple_predictors.of_numbers(values, wanted) if np.isfinite(wanted).all() else None,
            "explained",
        )
    if found is None:
        return {}
    scores = {
        f"reference_{name}_{kind}": getattr(found, name) for name in ("trivial", "linear", "neighbours")
    }
    return {**scores, "reference_samples_held": found.held}


def counted(tokens: Array) -> Array | None:
    """How often each token occurs in each of `tokens[n, length]`; None where there are too many kinds."""
    if tokens.min() < 0 or tokens.max() >= MOST_TOKENS:
        return None
    counts = np.zeros((len(tokens), int(tokens.max()) + 1))
    np.add.at(counts, (np.arange(len(tokens))[:, None], tokens), 1.0)
    return counts


def spread(values: Array) -> Array:
    """At most MOST_VALUES values of each sample, evenly spread."""
    rows = values.reshape(len(values), -1)
    return rows[:, :: max(1, -(-rows.shape[1] // MOST_VALUES))].copy()


def same_kind(kept: tuple[Array, Array], inputs: Array, targets: Array) -> bool:
    """Whether a batch is of the same kind as the first."""
    same = kept[0].shape[1:] == inputs.shape[1:] and kept[1].shape[1:] == targets.shape[1:]
    return same and kept[0].dtype.kind == inputs.dtype.kind and kept[1].dtype.kind == targets.dtype.kind
