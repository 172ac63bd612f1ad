"""What a trained model is worth, measured outside its script: skill on the rows that were put aside.

Skill is 1 for a perfect model and 0 for guessing, whatever the task; a model that is not finite has 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def skill(space: dict[str, Any], kind: str) -> float:
    """Skill of `model` in a script's namespace on its `x_test`, `y_test`, in evaluation mode."""
    import torch

    if kind == "own":
        return float(space["score"])
    model, x, y = space["model"], space["x_test"], space["y_test"]
    model.eval()
    with torch.no_grad():
        out = torch.cat([model(part) for part in x.split(256)]).double().numpy()
    return graded(out, y.numpy(), kind) if np.isfinite(out).all() else 0.0


def graded(out: np.ndarray, y: np.ndarray, kind: str) -> float:
    """Skill of outputs (n, ...) against targets (n, ...)."""
    if kind == "classes":
        return balanced(out.argmax(1), y, out.shape[1])
    if kind == "binary":
        return balanced(out > 0, y > 0.5, 2)
    if kind == "multilabel":
        return float(np.mean([balanced(out[:, i] > 0, y[:, i] > 0.5, 2) for i in range(y.shape[1])]))
    if kind == "segment":
        both, either = ((out > 0) & (y > 0.5)).sum(), ((out > 0) | (y > 0.5)).sum()
        return float(both / max(either, 1))
    if kind == "lm":
        shifted = out - out.max(1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        loss = -np.take_along_axis(logs, y[:, None], 1).mean()
        return max(0.0, 1 - float(loss) / math.log(out.shape[1]))
    if kind == "contrastive":
        return neighbours(out, y)
    residual, total = ((out - y) ** 2).mean(), ((y - y.mean(0)) ** 2).mean()
    return max(-1.0, 1 - float(residual / total))


def balanced(said: np.ndarray, true: np.ndarray, classes: int) -> float:
    """Balanced accuracy, 0 for chance and 1 for perfect."""
    recalls = [float((said[true == c] == c).mean()) for c in range(classes) if (true == c).any()]
    return (float(np.mean(recalls)) - 1 / classes) / (1 - 1 / classes)


def neighbours(out: np.ndarray, y: np.ndarray) -> float:
    """Balanced accuracy of giving each row the label of the row whose output points most nearly its way."""
    length = np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
    alike = (out / length) @ (out / length).T
    np.fill_diagonal(alike, -np.inf)
    return balanced(y[alike.argmax(1)], y, int(y.max()) + 1)


def losses(space: dict[str, Any]) -> tuple[float, float] | None:
    """The validation loss as the script last said it, and the same loss on the rows put aside; None where it said
    nothing."""
    import torch

    if "val_loss" not in space:
        return None
    with torch.no_grad():
        parts = zip(space["x_test"].split(256), space["y_test"].split(256), strict=True)
        total = sum(float(space["criterion"](space["model"](x), y)) * len(x) for x, y in parts)
    return float(space["val_loss"]), total / len(space["x_test"])


def told(space: dict[str, Any], kind: str) -> float | None:
    """What the script itself last said of its model on validation data, as accuracy; None where it said nothing."""
    value = space.get("val_metric")
    return (
        float(value)
        if value is not None and kind in ("classes", "binary", "multilabel", "segment")
        else None
    )


def accuracy(space: dict[str, Any], kind: str) -> float | None:
    """The same accuracy as it really is, on the rows put aside."""
    import torch

    if kind not in ("classes", "binary", "multilabel", "segment"):
        return None
    model, y = space["model"], space["y_test"]
    with torch.no_grad():
        out = torch.cat([model(part) for part in space["x_test"].split(256)])
    right = out.argmax(1) == y if kind == "classes" else (out > 0) == (y > 0.5)
    return float(right.double().mean())
