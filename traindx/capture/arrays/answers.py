"""Measures of a model's outputs, alone and against their targets, from arrays on the host (names:
docs/capture.md)."""

import numpy as np

from traindx.capture.arrays.batch import Data
from traindx.capture.arrays.data import Array

READ = 1 << 16  # values of the outputs that are read
CONTRADICTED = 0.1  # of the likelihood of the answer: a label less likely than that is contradicted
TINY = 1e-30


def answers(output: Array, target: Array | None, data: Data) -> dict[str, float]:
    """Of `output[n, ..., width]` and what it is compared with: spread and majority, and accuracy,
    cross-entropy or the explained share. Nothing of outputs that are not finite."""
    rows = output.reshape(-1, output.shape[-1]) if output.ndim > 1 else output.reshape(-1, 1)
    rows = rows[:: max(1, -(-rows.size // READ))].astype(np.float64)
    if len(rows) < 2 or not np.isfinite(rows).all():
        return {}
    apart, size = rows - rows.mean(0), np.square(rows).sum()
    found = {"outputs_sample_spread": float(np.sqrt(np.square(apart).sum() / max(size, TINY)))}
    if data.classified(rows.shape[1]):
        found["outputs_majority_share"] = majority_share(rows, data.probabilities)
    return found | ({} if target is None else against_targets(output, target, data.probabilities))


def majority_share(rows: Array, probabilities: bool) -> float:
    """Share of the commonest answer among `rows[n, width]`."""
    if rows.shape[1] == 1:
        share = float((rows > (0.5 if probabilities else 0.0)).mean())
        return max(share, 1 - share)
    return float(np.bincount(rows.argmax(1)).max() / len(rows))


def against_targets(output: Array, target: Array, probabilities: bool) -> dict[str, float]:
    """How well outputs answer their targets; nothing where they do not belong together."""
    if target.dtype.kind == "f" or output.size == target.size:
        return numbers(output, target.astype(np.float64), 0.5 if probabilities else 0.0)
    labels = target.squeeze(-1) if target.ndim > 1 and target.shape[-1] == 1 else target
    if output.ndim < 2 or output.shape[:-1] != labels.shape or output.shape[-1] < 2:
        return {}
    return classes(
        output.reshape(-1, output.shape[-1]).astype(np.float64), labels.reshape(-1).astype(np.int64)
    )


def classes(scores: Array, labels: Array) -> dict[str, float]:
    """Of `scores[n, k]` and `labels[n]` in 0 .. k - 1; other labels (masked ones) are passed over."""
    apart = max(1, -(-scores.size // READ))
    scores, labels = scores[::apart], labels[::apart]
    counted = (labels >= 0) & (labels < scores.shape[1])
    if not counted.any():
        return {}
    scores, labels = scores[counted], labels[counted]
    top = scores.max(1, keepdims=True)
    likely = scores - top - np.log(np.exp(scores - top).sum(1, keepdims=True))
    wanted = likely[np.arange(len(labels)), labels]
    correct = scores.argmax(1) == labels
    out = balanced_accuracy(correct, labels) | {
        "outputs_accuracy": float(correct.mean()),
        "outputs_contradict_share": float((np.exp(likely.max(1) - wanted) > 1 / CONTRADICTED).mean()),
    }
    return out | ({"outputs_cross_entropy": float(-wanted.mean())} if apart == 1 else {})


def balanced_accuracy(correct: Array, labels: Array) -> dict[str, float]:
    """The mean recall of the classes among `labels[n]`; nothing of a single class, which says nothing about the
    others."""
    counts = np.bincount(labels)
    there = counts > 0
    if there.sum() < 2:
        return {}
    recalls = np.bincount(labels, weights=correct)[there] / counts[there]
    return {"outputs_balanced_accuracy": float(recalls.mean())}


def numbers(output: Array, target: Array, half: float) -> dict[str, float]:
    """Of outputs and targets with as many values: accuracy and cross-entropy where all targets are 0 or 1,
    else the share of the targets' variance that the outputs explain."""
    if output.size != target.size or target.size < 2:
        return {}
    score, wanted = output.reshape(-1)[:READ].astype(np.float64), target.reshape(-1)[:READ]
    if ((wanted == 0) | (wanted == 1)).all():
        correct, labels = (score > half) == (wanted > 0.5), wanted.astype(np.int64)
        out = {"outputs_accuracy": float(correct.mean())} | balanced_accuracy(correct, labels)
        if target.size <= READ:
            scaled = np.log(np.maximum(score, 1e-7) / np.maximum(1 - score, 1e-7)) if half else score
            out["outputs_cross_entropy"] = float((np.logaddexp(0, scaled) - scaled * wanted).mean())
        return out
    rest = np.square(wanted - wanted.mean()).sum()
    return {"outputs_explained": float(1 - np.square(score - wanted).sum() / max(rest, TINY))}
