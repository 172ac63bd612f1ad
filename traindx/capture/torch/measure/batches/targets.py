"""How well the outputs of a batch fit its targets, whatever the loss is: accuracy, cross-entropy, explained
variance.

A hand-written loss, in its own unit, cannot be compared with anything. These signals can, and where the loss
is the cross-entropy of the outputs they are equal to it. Works on any device without waiting for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from traindx.capture.torch.measure.tensors.views import any_tensor

READ = 1 << 16  # values of the outputs that are read
CONTRADICTED = 0.1  # of the likelihood of the predicted class: a label below that is contradicted
TINY = 1e-30


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
    out = {"outputs_accuracy": ((predicted == labels).float() * counted).sum() / count,
           "outputs_contradict_share": (contradicted.float() * counted).sum() / count}  # fmt: skip
    if complete:
        out["outputs_cross_entropy"] = -(wanted * counted).sum() / count
    return out


def numbers(output: torch.Tensor, target: torch.Tensor, half: float) -> dict[str, torch.Tensor]:
    """Of outputs and float targets with as many values: accuracy and cross-entropy where all targets are 0
    or 1, else the share of the targets' variance that the outputs explain."""
    if output.numel() != target.numel() or target.numel() < 2:
        return {}
    score, wanted = output.reshape(-1)[:READ], target.reshape(-1)[:READ]
    if target.is_cpu and bool(((wanted == 0) | (wanted == 1)).all()):
        out = {"outputs_accuracy": ((score > half) == (wanted > 0.5)).float().mean()}
        if target.numel() <= READ:
            out["outputs_cross_entropy"] = functional.binary_cross_entropy_with_logits(score, wanted)
        return out
    rest = (wanted - wanted.mean()).square().sum()
    return {"outputs_explained": 1 - (score - wanted).square().sum() / rest.clamp(min=TINY)}
