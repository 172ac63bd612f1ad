"""Samples that training and evaluation share, judged for each evaluated data set by itself.

A pass over the training data with gradients off (a training accuracy) is no leak, and must not be taken for
one: it is recognized by the data set object where the loader is seen, else by stretches of batches that
are training samples throughout while others are not, or that cover the training set."""

from typing import Any

import numpy as np

from traindx.vocabulary import Fact

Hashes = np.ndarray[Any, np.dtype[np.uint64]]

MOST_HASHES = 1 << 17  # of evaluated samples that are kept (1 MiB)
BLOCK = 16  # samples in a row that are judged together: fewer may be training samples by chance
WHOLLY = 0.99  # share of a block in the training set from which it counts as training data
COVERED = 0.9  # share of the training set in an evaluation from which it is one of the training set


class HeldOut:
    """Hashes of evaluated samples in their order, with what is known of the data set they are of."""

    def __init__(self) -> None:
        self._batches: list[tuple[object, Hashes]] = []  # a mark of the data set (None: not known), hashes
        self._kept = 0
        self._trained: set[object] = set()
        self.passed_over: set[object] = set()  # data sets with batches that were not hashed

    def add(self, hashes: Hashes, source: object = None, trained: bool = False) -> None:
        """A batch. `source` marks its data set; `trained`: it is the one that is trained on."""
        if self._kept < MOST_HASHES:
            self._batches.append((source, hashes))
            self._kept += len(hashes)
            if trained and source is not None:
                self._trained.add(source)

    def facts(self, training: set[int], *, complete: bool) -> dict[str, Fact]:
        """`training`: hashes of the training samples; `complete`: of nearly all of them. The share is that
        of the worst data set which is not the training data itself; without all hashes it is a lower bound,
        and an unknown data set is not judged."""
        if not training or not self._batches:
            return {}
        known = np.fromiter(training, np.uint64, len(training))
        judged: list[tuple[float, int]] = []
        sources = dict.fromkeys(source for source, _ in self._batches)
        for source in sources:
            batches = [hashes for other, hashes in self._batches if other == source]
            if source is None:
                batches = _without_training_data(batches, known, others=len(sources) > 1) if complete else []
            if batches and source not in self._trained:
                judged.append(_known_share(batches, known))
        if not judged:
            known_all = (complete or None not in sources) and not self.passed_over
            return {"validation_is_training_data": True} if known_all else {}
        share, count = max(judged)
        return {
            "train_val_overlap_share": share,
            "val_samples_hashed": count,
            "validation_is_training_data": False,
        }


def _known_share(batches: list[Hashes], known: Hashes) -> tuple[float, int]:
    """The share of distinct samples that are known, and how many distinct ones there are."""
    distinct = np.unique(np.concatenate(batches))
    return float(np.isin(distinct, known).mean()), len(distinct)


def _blocks(batches: list[Hashes]) -> list[Hashes]:
    """Batches in blocks of about BLOCK samples: large ones cut, each by itself, for the next may be of other
    data; small ones joined."""
    blocks: list[Hashes] = []
    small: list[Hashes] = []
    for batch in batches:
        if len(batch) < BLOCK:
            small.append(batch)
        if small and (len(batch) >= BLOCK or sum(map(len, small)) >= BLOCK):
            blocks.append(np.concatenate(small))
            small = []
        if len(batch) >= BLOCK:
            blocks += np.array_split(batch, len(batch) // BLOCK)
    return [*blocks, np.concatenate(small)] if small else blocks


def _without_training_data(batches: list[Hashes], known: Hashes, *, others: bool) -> list[Hashes]:
    """Blocks of batches of no known data set, without those of an evaluation of the training data.
    `others`: there are other evaluated data sets."""
    blocks = _blocks(batches)
    wholly = [bool(np.isin(hashes, known).mean() >= WHOLLY) for hashes in blocks]
    inside = [hashes for hashes, w in zip(blocks, wholly, strict=True) if w]
    rest = [hashes for hashes, w in zip(blocks, wholly, strict=True) if not w]
    if not inside:
        return blocks
    covers = len(np.unique(np.concatenate(inside))) >= COVERED * len(known)
    if rest:  # a leak mixes known and unknown samples within blocks: whole ones are another data set
        return rest if covers or _known_share(rest, known)[0] < WHOLLY / 2 else blocks
    return [] if covers or others else blocks
