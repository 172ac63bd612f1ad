"""A plain net trained for real in numpy, with its gradient norm: what goes wrong in it goes wrong for a reason."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

INPUTS, CLASSES = 10, 4


@dataclass(frozen=True)
class Loop:
    """`depth` hidden layers of `width` units ("relu" or "sigmoid"), initialized at `gain` over the square root of
    the fan-in; SGD with `momentum` on batches of 32 from 1024 samples; the gradient is clipped to `clip`
    if given, and is not cleared between steps if `accumulates`. After `dies_at`, units are silenced by a bias."""

    depth: int = 1
    width: int = 32
    activation: str = "relu"
    gain: float = 1.4
    lr: float = 0.1
    momentum: float = 0.0
    clip: float | None = None
    accumulates: bool = False
    dies_at: int | None = None
    steps: int = 400
    seed: int = 0


@cache
def trained(loop: Loop) -> Run:
    """The run: train/loss and grad_norm at every step; stops ten steps after the loss is not finite."""
    rng = np.random.default_rng(loop.seed)
    centres = 1.5 * rng.standard_normal((CLASSES, INPUTS))
    labels = rng.integers(0, CLASSES, 1024)
    data = centres[labels] + rng.standard_normal((1024, INPUTS))
    sizes = [INPUTS, *[loop.width] * loop.depth, CLASSES]
    weights = [rng.standard_normal(s) * loop.gain / np.sqrt(s[0]) for s in pairwise(sizes)]
    biases = [np.zeros(n) for n in sizes[1:]]
    velocity = [np.zeros_like(p) for p in (*weights, *biases)]
    kept = [np.zeros_like(p) for p in (*weights, *biases)]
    losses, norms = [], []
    with np.errstate(all="ignore"):
        for step in range(loop.steps):
            if step == loop.dies_at:
                biases[0] -= 1e3
            rows = rng.integers(0, len(data), 32)
            loss, gradients = backward(loop.activation, weights, biases, data[rows], labels[rows])
            kept = [k * loop.accumulates + g for k, g in zip(kept, gradients, strict=True)]
            norm = float(np.sqrt(sum(float(np.sum(g * g)) for g in kept)))
            losses.append(loss)
            norms.append(norm)
            scale = 1.0 if loop.clip is None else min(1.0, loop.clip / max(norm, 1e-12))
            for i, p in enumerate((*weights, *biases)):
                velocity[i] = loop.momentum * velocity[i] + scale * kept[i]
                p -= loop.lr * velocity[i]
            if len(losses) > 10 and not np.any(np.isfinite(losses[-10:])):
                break
    return make.run(
        {"train/loss": losses, "grad_norm": norms}, setup=Setup(clip_norm=loop.clip, optimizer="sgd")
    )


def backward(
    activation: str, weights: list[np.ndarray], biases: list[np.ndarray], x: np.ndarray, y: np.ndarray
) -> tuple[float, list[np.ndarray]]:
    """Mean cross-entropy of a batch and the gradients of all weights, then of all biases."""
    layers = [x]
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        z = layers[-1] @ w + b
        layers.append(np.maximum(z, 0.0) if activation == "relu" else 1.0 / (1.0 + np.exp(-z)))
    logits = layers[-1] @ weights[-1] + biases[-1]
    logits = logits - logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss = float(-np.mean(logs[np.arange(len(y)), y]))
    error = np.exp(logs)
    error[np.arange(len(y)), y] -= 1.0
    error /= len(y)
    down, across = [], []
    for i in reversed(range(len(weights))):
        down.append(layers[i].T @ error)
        across.append(error.sum(axis=0))
        if i:
            slope = layers[i] > 0 if activation == "relu" else layers[i] * (1.0 - layers[i])
            error = (error @ weights[i].T) * slope
    return loss, [*down[::-1], *across[::-1]]
