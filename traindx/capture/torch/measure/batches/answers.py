"""Signals of the outputs that a model gives for sampled training batches, and in evaluation passes: whether
they depend on the input, whether all samples get the same class, and how well they fit the targets.

A hand-written loss, in its own unit, cannot be compared with anything. Accuracy, cross-entropy and explained
variance can, and where the loss is the cross-entropy of the outputs they are equal to it. Works on any
device without waiting for it."""

import math
import time
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from traindx.capture.arrays.batch import Data
from traindx.capture.arrays.data import SAMPLE_PROBE, Array
from traindx.capture.torch.measure.tensors.views import any_tensor, first_tensor, without_waiting

APART = 8  # steps between outputs that are measured
START_SECONDS, SHARE = (
    0.05,
    0.003,
)  # time for the outputs of evaluation passes: at the start, and of the run's
READ = 1 << 16  # values of the outputs that are read
CONTRADICTED = 0.1  # of the likelihood of the predicted class: a label below that is contradicted
TINY = 1e-30
FEWEST = 16  # rows that are read even where that exceeds READ
MOST_CLASSES = 1000  # whose recalls are averaged; a batch of tokens has too few samples of each
MOST = 1 << 20  # values beyond which nothing is read


class Answers:
    """`data` knows whether outputs are classes, and whether they are probabilities."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._step = -APART // 2  # the first outputs, of a model at its start, are left out
        self.matched = Matched()
        self._counts: torch.Tensor | None = None  # by class, of the evaluation pass
        self._since, self._spent = time.perf_counter(), 0.0

    def due(self, step: int) -> bool:
        return step - self._step >= APART

    def read(self, output: torch.Tensor, step: int) -> dict[str, Any]:
        """Signals of the input of a sampled training loss: how far samples differ, and the most frequent
        class."""
        self._step = step
        self.matched.record_output(output)
        rows = rows_of(output)
        if rows is None:
            return {}
        spread = sample_spread(rows)
        if rows.is_cpu and spread != spread:
            return {}  # not finite: other signals show that
        out: dict[str, Any] = {"outputs_sample_spread": spread}
        if self._data.classified(rows.shape[1]):
            out["outputs_majority_share"] = class_counts(rows, self._data.probabilities).max() / len(rows)
        return {n: float(v) if rows.is_cpu else v for n, v in out.items()}

    def against_targets(self) -> dict[str, Any]:
        """Signals of the outputs and targets of the step that is about to be made."""
        with torch.no_grad():
            found = self.matched.take(self._data.probabilities)
            return {n: without_waiting(v.detach()) for n, v in found.items() if not v.is_cpu or v.isfinite()}

    def read_evaluation(self, output: Any) -> bool:
        """The outputs of an evaluation pass, while that takes little time; whether they were counted."""
        began, busy = time.perf_counter(), time.thread_time()  # other processes' time is not counted
        found = first_tensor(output)
        if found is None or self._spent > START_SECONDS + SHARE * (began - self._since):
            return False
        rows = rows_of(found)
        finite = rows is not None and (not rows.is_cpu or math.isfinite(float(rows.sum())))
        counted = rows is not None and finite and self._data.classified(rows.shape[1])
        if rows is not None and counted:
            counts = class_counts(rows, self._data.probabilities)
            same = self._counts is not None and self._counts.shape == counts.shape
            self._counts = self._counts + counts if same else counts
        self._spent += time.thread_time() - busy
        return bool(counted)

    def of_evaluation(self) -> dict[str, Any]:
        """The share of the most frequent class in the evaluation pass before; nothing where there was
        none."""
        counts, self._counts = self._counts, None
        return (
            {}
            if counts is None
            else {"val_outputs_majority_share": without_waiting(counts.max() / counts.sum())}
        )


class Matched:
    """Outputs and targets of a training batch, paired when its step is made."""

    def __init__(self) -> None:
        self._output: torch.Tensor | None = None
        self._target: torch.Tensor | None = None

    def record_output(self, output: torch.Tensor) -> None:
        """The input of the loss."""
        self._output = output.detach()

    def record_targets(self, targets: Any) -> None:
        """What the loss compares it with."""
        found = any_tensor(targets)
        if found is not None:
            self._target = found.detach()

    def forget(self) -> None:
        """The step was not made."""
        self._output = self._target = None

    def take(self, probabilities: bool = False) -> dict[str, torch.Tensor]:
        """The signals of the pair, each with one element; none where the two do not belong together.
        `probabilities`: the outputs are probabilities, so that the second of two classes is predicted above
        a half."""
        output, target = self._output, self._target
        self.forget()
        if output is None or target is None or target.layout is not torch.strided or not target.dim():
            return {}
        if not output.is_floating_point() or output.device != target.device:
            return {}
        if target.is_floating_point():
            return numbers(output.float(), target.float(), 0.5 if probabilities else 0.0)
        pair = rows(output.float(), target)
        return {} if pair is None else classes(*pair)


def rows(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, bool] | None:
    """`scores[n, width]`, `labels[n]`, and whether all are read. Classes are the second dimension where the
    others are those of the labels, else the last one. None where the shapes do not fit."""
    labels = target.squeeze(-1) if target.dim() > 1 and target.shape[-1] == 1 else target
    if (
        output.dim() > 1
        and output.dim() == labels.dim() + 1
        and output.shape[:1] + output.shape[2:] == labels.shape
    ):
        output = output.movedim(1, -1)
    if output.dim() < 2 or output.shape[:-1] != labels.shape or not output.shape[-1] > 1:
        return None
    scores, flat = output.reshape(-1, output.shape[-1]), labels.reshape(-1)
    stride = max(1, -(-scores.numel() // READ))
    return scores[::stride], flat[::stride].long(), stride == 1


def classes(scores: torch.Tensor, labels: torch.Tensor, complete: bool) -> dict[str, torch.Tensor]:
    """Of scores[n, k] and labels[n] in 0 .. k - 1; other labels (masked ones) are left out."""
    counted = ((labels >= 0) & (labels < scores.shape[1])).float()
    count = counted.sum().clamp(min=TINY)
    likely = functional.log_softmax(scores, 1)
    best, predicted = likely.max(1)
    wanted = likely.gather(1, labels.clamp(0, scores.shape[1] - 1)[:, None])[:, 0]
    contradicted = (best - wanted).exp() > 1 / CONTRADICTED
    correct = (predicted == labels).float() * counted
    out = {"outputs_accuracy": correct.sum() / count,
           "outputs_contradict_share": (contradicted.float() * counted).sum() / count}  # fmt: skip
    if scores.shape[1] <= MOST_CLASSES:
        places = labels.clamp(0, scores.shape[1] - 1)
        out["outputs_balanced_accuracy"] = balanced_accuracy(correct, counted, places, scores.shape[1])
    if complete:
        out["outputs_cross_entropy"] = -(wanted * counted).sum() / count
    return out


def balanced_accuracy(
    correct: torch.Tensor, counted: torch.Tensor, labels: torch.Tensor, classes: int
) -> torch.Tensor:
    """The mean recall of the classes among `labels[n]`, as far as these are `counted`; NaN of a single class,
    which says nothing about the others."""
    sums = correct.new_zeros(2, classes).index_add_(1, labels, torch.stack([correct, counted]))
    there = (sums[1] > 0).sum()
    recalls = (sums[0] / sums[1].clamp(min=1)).sum() / there
    return recalls.masked_fill(there <= 1, torch.nan)


def numbers(output: torch.Tensor, target: torch.Tensor, half: float) -> dict[str, torch.Tensor]:
    """Of outputs and float targets with as many values: accuracy and cross-entropy where all targets are 0
    or 1, else the share of the targets' variance that the outputs explain."""
    if output.numel() != target.numel() or target.numel() < 2:
        return {}
    score, wanted = output.reshape(-1)[:READ], target.reshape(-1)[:READ]
    if target.is_cpu and bool(((wanted == 0) | (wanted == 1)).all()):
        correct = ((score > half) == (wanted > 0.5)).float()
        recalls = balanced_accuracy(correct, torch.ones_like(correct), wanted.long(), 2)
        out = {"outputs_accuracy": correct.mean(), "outputs_balanced_accuracy": recalls}
        if target.numel() <= READ:
            # Not by the loss function, whose calls are recorded: this would be another loss of the script.
            out["outputs_cross_entropy"] = (functional.softplus(score) - score * wanted).mean()
        return out
    rest = (wanted - wanted.mean()).square().sum()
    return {"outputs_explained": 1 - (score - wanted).square().sum() / rest.clamp(min=TINY)}


def rows_of(output: torch.Tensor) -> torch.Tensor | None:
    """`[n, width]`: some rows, evenly spaced; classes are the second dimension of images, else the
    last one. None where there is nothing to read."""
    output = output.detach()
    if not output.is_floating_point() or not output.dim() or output.layout is not torch.strided:
        return None
    if output.dim() > 3:
        output = output.movedim(1, -1)
    rows = output.reshape(-1, output.shape[-1]) if output.dim() > 1 else output.reshape(-1, 1)
    count = max(FEWEST, READ // max(rows.shape[1], 1))
    rows = rows[:: max(1, len(rows) // count)][:count]
    return rows.float() if len(rows) > 1 and 0 < rows.numel() <= MOST else None


def sample_spread(rows: torch.Tensor) -> Any:
    """Root mean square distance of outputs from their mean over samples, over their root mean square: 0
    when all samples get the same output, 1 when the mean is zero."""
    if rows.is_cpu:
        values = rows.numpy()
        centred, flat = (values - values.mean(0)).reshape(-1), values.reshape(-1)
        return float(np.dot(centred, centred) / max(float(np.dot(flat, flat)), 1e-30)) ** 0.5
    centred = rows - rows.mean(0)
    return torch.linalg.vector_norm(centred) / torch.linalg.vector_norm(rows).clamp(min=1e-30)


def class_counts(rows: torch.Tensor, probabilities: bool = False) -> torch.Tensor:
    """`counts[classes]` of the predictions: the largest output of each row; of one column, whether it is
    above 0 (or 0.5, of `probabilities`)."""
    if rows.is_cpu and rows.shape[1] > 1:
        return torch.from_numpy(
            np.bincount(rows.numpy().argmax(1), minlength=rows.shape[1]).astype(np.float32)
        )
    if rows.shape[1] == 1:
        positive = (rows > (0.5 if probabilities else 0.0)).float().sum()
        return torch.stack([len(rows) - positive, positive])
    return rows.new_zeros(rows.shape[1]).scatter_add_(0, rows.argmax(1), rows.new_ones(len(rows)))


ON_DEVICE = 4  # batches fetched from an accelerator (each fetch waits for it)


class Host:
    """The first tensor of a batch as an array; None where there is none that can be read cheaply."""

    def __init__(self) -> None:
        self._fetched = 0

    def __call__(self, found: Any) -> Array | None:
        tensor = _first(found)
        if isinstance(tensor, torch.Tensor):
            tensor = tensor.detach()
            if tensor.device.type != "cpu":
                self._fetched += 1
                if self._fetched > 2 * ON_DEVICE:
                    return None
                tensor = tensor.cpu()
            if tensor.layout is not torch.strided or tensor.is_complex():
                return None
            tensor = tensor if tensor.dtype not in (torch.bfloat16, torch.float16) else tensor.float()
            return np.atleast_1d(tensor.numpy())
        return (
            np.atleast_1d(tensor) if isinstance(tensor, np.ndarray) and tensor.dtype.kind in "fiub" else None
        )


def batch_statistics(*, patient: bool = False) -> Data:
    """Statistics of batches of tensors."""
    return Data(Host(), sample_table, patient=patient)


def outputs_of(output: torch.Tensor) -> Array:
    """Outputs on the CPU as an array."""
    values = output.detach()
    return np.asarray((values if values.dtype in (torch.float32, torch.float64) else values.float()).numpy())


def sample_table(inputs: Any, first: Array) -> Array:
    """Values by which the samples of a batch can be recognized: its `first` tensor where it is the only one.
    Else a table of some values of all tensors on the host with a row for each sample (a user and an item,
    tokens and a mask)."""
    if isinstance(inputs, torch.Tensor) or (isinstance(inputs, list | tuple) and len(inputs) == 1):
        return first
    if isinstance(inputs, dict) or hasattr(inputs, "values"):
        inputs = list(inputs.values()) if callable(inputs.values) else ()
    parts = (
        [t.detach() for t in inputs if isinstance(t, torch.Tensor)]
        if isinstance(inputs, list | tuple)
        else []
    )
    flat = [t.reshape(len(t), -1) for t in parts if t.dim() and len(t) == len(first) and _readable(t)]
    if len(flat) < 2:
        return first
    spread = [t[:, :: max(1, t.shape[1] // SAMPLE_PROBE)].double().numpy() for t in flat if t.numel()]
    return np.concatenate(spread, 1)


def _readable(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.layout is torch.strided and not tensor.is_complex()


def _first(found: Any) -> Any:
    """The first tensor or array in nested tuples, lists and dicts."""
    if isinstance(found, torch.Tensor | np.ndarray):
        return found
    if isinstance(found, dict) or hasattr(found, "values"):
        found = list(found.values()) if callable(found.values) else None
    if isinstance(found, list | tuple):
        return next((t for t in map(_first, found) if t is not None), None)
    return None
