"""Which tensors of a batch are its inputs and targets, and what is gathered from them.

A few of the training samples are kept while a run is recorded, so that simple predictors can be fitted when
it is over. Nothing of them is written: only how well those predictors do."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from traindx.capture.arrays.data import READ, Array, Batches, Labels, Moments, by_feature
from traindx.features.comparisons import simple_predictors
from traindx.redaction import round_outward
from traindx.vocabulary import Fact, threshold

CLOSE = 20  # first batches that are all read; of n later ones about sqrt(CLOSE * n) are
START_SECONDS, SHARE = 0.05, 0.001  # time for reading batches: at the start, and of the run's
FEWEST = 16  # parts of batches, in training and of each data set evaluated, that are read in any case
MOST_SOURCES = 16  # evaluated data sets that are distinguished in that
HASHED = 2000  # batches whose samples are hashed
COMPARED = 50  # samples that were evaluated; the moments of fewer are far from those of all by chance


class Data:
    """What the batches of a run say about its data. `look` takes a batch, `facts` sums up. A framework says
    how the first tensor of a batch's part becomes an array (`host`; None where there is none), and by what
    samples of a batch are compared (`together`: an array with a row for each, from the inputs and their
    first array)."""

    def __init__(
        self,
        host: Callable[[Any], Array | None],
        together: Callable[[Any, Array], Array] = lambda inputs, first: first,
        *,
        patient: bool = False,
    ) -> None:
        self._host, self._together = host, together
        self.patient = patient  # all batches are looked at, however long that takes
        self._inputs = {True: Moments(), False: Moments()}
        self._targets = {True: Moments(), False: Moments()}
        self._labels, self._held_labels = Labels(), Labels()
        self._batches, self._reservoir = Batches(), Reservoir()
        self._looked = {True: 0, False: 0}
        self._passed = {True: 0, False: 0}
        self._hashed = {True: 0, False: 0}
        self._evaluated: dict[object, int] = {}  # parts of batches that were evaluated, by data set
        self._since, self._spent = 0.0, 0.0
        self._facts: dict[str, Fact] = {}
        self._binary, self._whole = True, True

    @property
    def due(self) -> bool:
        """Whether there is time to read another batch."""
        return self.patient or self._spent < START_SECONDS + SHARE * (time.perf_counter() - self._since)

    def look(
        self,
        inputs: Any,
        targets: Any,
        training: bool,
        close: bool,
        source: object = None,
        trained: bool = False,
    ) -> None:
        """One batch. `close`: the step is sampled, so there is time to read more of it. `source` marks the
        data set it is of (None: not known), `trained` that it is one that is trained on."""
        began = time.thread_time()  # what other processes take of a busy machine is not counted
        self._since = self._since or time.perf_counter()
        if self._has_seen_few(training, source) or self.due:
            with np.errstate(all="ignore"):  # overflow is looked for, and is no matter for the user's stderr
                self._look(inputs, targets, training, close, (source, trained))
            self._spent += time.thread_time() - began
        elif inputs is not None:
            self._reservoir.forget()
            self.missed(training, source, trained)

    def _has_seen_few(self, training: bool, source: object) -> bool:
        """Whether so little was looked at that there must be time."""
        if training:
            return self._passed[True] < FEWEST
        if source in self._evaluated or len(self._evaluated) < MOST_SOURCES:
            self._evaluated[source] = self._evaluated.get(source, 0) + 1
        return self._evaluated.get(source, FEWEST + 1) <= FEWEST

    def missed(self, training: bool, source: object = None, trained: bool = False) -> None:
        """A batch passed by that is not looked at."""
        self._batches.passed_over(training, source, trained)

    def _look(
        self, inputs: Any, targets: Any, training: bool, close: bool, whose: tuple[object, bool]
    ) -> None:
        given, wanted = self._host(inputs), self._host(targets)
        if given is not None and len(given):
            samples = self._together(inputs, given)
            if training:
                self._batches.add(samples, wanted)
            if self._hashed[training] < HASHED:
                self._hashed[training] += 1
                self._batches.samples(samples, training, *whose)
            else:
                self.missed(training, *whose)
        if training:
            self._reservoir.add(given, wanted)
        self._passed[training] += 1
        looked = self._looked[training]
        if self.patient or looked < CLOSE or (close and self._passed[training] > looked * looked / CLOSE):
            self._looked[training] += given is not None
            if given is not None and len(given):
                self._add_inputs(given, training)
            if wanted is not None and wanted.size:
                self._add_targets(wanted, training)

    def _add_inputs(self, given: Array, training: bool) -> None:
        self._facts.setdefault("inputs_dtype", str(given.dtype))
        self._facts.setdefault("inputs_shape", "x".join(map(str, given.shape[1:])))
        if given.dtype.kind == "f" or given.dtype == np.uint8:
            self._inputs[training].add(by_feature(given))
            if training and given.dtype.kind == "f" and "inputs_identifying_features" not in self._facts:
                self._facts["inputs_identifying_features"] = count_identifying_features(
                    given.reshape(len(given), -1)
                )
        elif given.dtype.kind == "i" and training:
            low, high = int(given.min()), int(given.max())
            self._facts |= {
                "tokens_min": min(low, int(self._facts.get("tokens_min", low))),
                "tokens_max": max(high, int(self._facts.get("tokens_max", high))),
            }

    def _add_targets(self, wanted: Array, training: bool) -> None:
        self._facts.setdefault("label_dtype", str(wanted.dtype))
        self._facts.setdefault("targets_shape", "x".join(map(str, wanted.shape[1:])))
        if wanted.dtype.kind in "iub" and training:
            self._labels.add(wanted)
        elif wanted.dtype.kind in "iub":
            self._held_labels.add(wanted)
        elif wanted.dtype.kind == "f":
            self._targets[training].add(by_feature(wanted))
            flat = wanted.reshape(-1)[:READ]
            self._whole = self._whole and bool((flat == np.round(flat)).all())
            self._facts["targets_whole"] = self._whole
            self._binary = self._binary and bool(((flat == 0) | (flat == 1)).all())
            self._facts["targets_binary"] = self._binary
            if self._binary and training and (wanted.ndim == 1 or wanted.shape[-1] == 1):
                self._labels.add(wanted)

    def classified(self, width: int) -> bool:
        """Whether outputs of so many columns answer the labels that were seen: classes, or yes and no."""
        labels = self._labels
        return labels.seen > 0 and (labels.high < width if width > 1 else labels.high <= 1)

    @property
    def probabilities(self) -> bool:
        """Whether the loss is fed with probabilities."""
        return bool(self._facts.get("loss_input_looks_like_probabilities", False))

    def forget_outputs(self) -> None:
        """What was looked at is not what the loss is fed with."""
        for name in ("outputs_width", "outputs_min", "outputs_max", "loss_input_looks_like_probabilities"):
            self._facts.pop(name, None)

    def outputs(self, output: Array, classes_second: bool = False) -> None:
        """What the loss is fed with: its width, range, and whether rows are probabilities. Two losses of one kind may
        have outputs of different widths, and their labels are counted together: the widest is kept. Columns are
        the last dimension, and in images, and where `classes_second`, the second."""
        part = output.reshape(-1, output.shape[-1]) if output.ndim > 1 else output.reshape(-1, 1)
        if output.ndim > 3 or (classes_second and output.ndim == 3):
            part = np.moveaxis(output, 1, -1).reshape(-1, output.shape[1])
        rows = part[: max(1, READ // max(part.shape[1], 1))].astype(np.float32, copy=False)
        low, high = float(rows.min()), float(rows.max())
        self._facts |= {
            "outputs_width": max(part.shape[1], int(self._facts.get("outputs_width", 0))),
            "outputs_min": min(low, float(self._facts.get("outputs_min", low))),
            "outputs_max": max(high, float(self._facts.get("outputs_max", high))),
        }
        summed = part.shape[1] > 1 and bool(np.abs(rows.sum(1) - 1).max() < 1e-3)
        probable = low >= 0 and high <= 1 and (summed or part.shape[1] == 1)
        was = self._facts.get("loss_input_looks_like_probabilities", True)
        self._facts["loss_input_looks_like_probabilities"] = bool(was) and probable

    def references(self) -> dict[str, Fact]:
        """What simple predictors make of the training samples: asked once, when the run is over."""
        return self._reservoir.facts()

    def facts(self) -> dict[str, Fact]:
        """All facts so far, under the names of docs/capture.md."""
        train, held = self._inputs[True], self._inputs[False]
        out = {**self._facts, **train.facts("inputs"), **self._batches.facts(), **self._labels.facts()}
        out |= self._targets[True].facts("targets")
        majority = self._held_labels.facts().get("class_majority_share")
        if majority is not None:
            out["val_class_majority_share"] = majority
        if held.sizes:
            out["val_inputs_absmax_median"] = round_outward(float(np.median(held.sizes)))
        if train.rows and held.rows >= COMPARED and len(train.total) == len(held.total):
            varied = ~train.constant
            if varied.any():
                spread = train.std[varied]
                shift = np.abs(train.mean - held.mean)[varied] / spread
                out["val_inputs_shift"] = float(shift.mean())
                out["val_inputs_spread_ratio"] = float(held.std[varied].mean() / spread.mean())
        return out


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

    def forget(self) -> None:
        """Inputs were passed over: the next targets may be theirs, and not of the inputs that wait."""
        self._waiting = None

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
    padded: dict[str, Fact] = {"padding_share": padding_share(targets)} if sequences else {}
    if sequences and max(inputs.max(), targets.max()) < MOST_TOKENS:
        entropies = simple_predictors.token_entropies(
            inputs.reshape(-1).astype(np.int64), targets.reshape(-1).astype(np.int64)
        )
        names = ("reference_unigram_entropy", "reference_bigram_entropy")
        return padded | ({} if entropies is None else dict(zip(names, entropies, strict=True)))
    flat = targets.reshape(len(targets), -1)
    values = count_tokens(inputs) if inputs.dtype.kind in "iu" else inputs.astype(np.float64)
    if values is None or not np.isfinite(values).all() or flat.shape[1] > MOST_TARGETS:
        return padded
    yes_or_no = flat.shape[1] == 1 and bool(((flat == 0) | (flat == 1)).all())
    if flat.shape[1] == 1 and (whole or yes_or_no):
        labels = flat[:, 0].astype(np.int64)
        found = simple_predictors.class_accuracies(values, labels) if labels.max() < MOST_CLASSES else None
        kind = "accuracy"
    else:
        wanted = flat.astype(np.float64)
        found, kind = (
            simple_predictors.explained_variances(values, wanted) if np.isfinite(wanted).all() else None,
            "explained",
        )
    if found is None:
        return {}
    scores = {
        f"reference_{name}_{kind}": getattr(found, name) for name in ("trivial", "linear", "neighbours")
    }
    return {**scores, "reference_samples_held": found.held}


def padding_share(
    tokens: Array,
    *,
    only: float = threshold(
        0.99,
        "of its occurrences",
        basis="theory",
        source="a token that means something also occurs before the end",
    ),
) -> float:
    """The share of `tokens[n, length]` that fill the ends of sequences: one token that occurs nowhere else. A token
    that is masked (negative) is not counted."""
    last, rows = np.unique(tokens[:, -1], return_counts=True)
    token = last[rows.argmax()]
    same = tokens == token
    ends = np.logical_and.accumulate(same[:, ::-1], axis=1).sum()
    # The last token of every sequence is the same where each ends with a sign for its end: that is one, not a filling.
    filled = token >= 0 and ends > len(tokens) and ends >= only * same.sum() and not same.all()
    return float(ends / tokens.size) if filled else 0.0


def count_tokens(tokens: Array) -> Array | None:
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


def count_identifying_features(
    rows: Array,
    *,
    most: float = threshold(
        0.9, "of the different samples", basis="convention", source="copies are left out"
    ),
) -> int:
    """How many of the first features have nearly as many values as there are different samples (of 64 at most). Samples
    that agree in several of these are copies, not equal by chance."""
    part = np.unique(rows[:64, :64], axis=0)
    return sum(len(np.unique(column)) >= most * len(part) for column in part.T) if len(part) >= 8 else 0
