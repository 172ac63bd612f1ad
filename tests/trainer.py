"""A small network that really trains, in numpy: so that samples overfit, underfit or stall for a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from traindx.vocabulary.run import Run, series

CLASSES = 5
INPUTS = 20


def constant(_: float) -> float:
    return 1.0


def cosine(progress: float) -> float:
    return 0.5 * (1.0 + np.cos(np.pi * progress))


def decays_every_batch(progress: float) -> float:
    """A factor meant for every epoch, applied at every batch: 1e-9 at the end."""
    return 1e-9**progress


@dataclass(frozen=True)
class Recipe:
    """One run: `samples` training points of Gaussian classes `apart` standard deviations from each other,
    `label_noise` of their labels random; one hidden layer of `hidden` ReLUs; SGD with momentum 0.9, or Adam.
    Validation on 400 clean points every `validate_every` steps."""

    samples: int = 2000
    label_noise: float = 0.0
    apart: float = 1.0
    hidden: int = 64
    dropout: float = 0.0
    weight_decay: float = 0.0
    lr: float = 0.05
    schedule: Callable[[float], float] = constant
    adam: bool = False
    batch: int = 64
    steps: int = 1500
    validate_every: int = 25
    seed: int = 0


@cache
def train(recipe: Recipe) -> Run:
    """The run: train/loss, train/accuracy and lr at every step, val/loss and val/accuracy at their own."""
    rng = np.random.default_rng(recipe.seed)
    centres = rng.standard_normal((CLASSES, INPUTS)) * recipe.apart / np.sqrt(2)
    x, y = sample(rng, centres, recipe.samples)
    noisy = rng.random(recipe.samples) < recipe.label_noise
    y = np.where(noisy, rng.integers(0, CLASSES, recipe.samples), y)
    held_x, held_y = sample(rng, centres, 400)
    weights = [
        rng.standard_normal((INPUTS, recipe.hidden)) * np.sqrt(2 / INPUTS),
        np.zeros(recipe.hidden),
        rng.standard_normal((recipe.hidden, CLASSES)) * np.sqrt(1 / recipe.hidden),
        np.zeros(CLASSES),
    ]
    memory = [[np.zeros_like(w) for w in weights] for _ in range(2)]
    rows: dict[str, list[float]] = {"train/loss": [], "train/accuracy": [], "lr": []}
    held: dict[str, list[float]] = {"val/loss": [], "val/accuracy": []}
    at: list[int] = []
    order = np.empty(0, dtype=np.int64)
    for step in range(recipe.steps):
        if len(order) < recipe.batch:
            order = rng.permutation(recipe.samples)
        chosen, order = order[: recipe.batch], order[recipe.batch :]
        if step % recipe.validate_every == 0:
            loss, accuracy, _ = backward(weights, held_x, held_y, np.ones(recipe.hidden))
            held["val/loss"].append(loss)
            held["val/accuracy"].append(accuracy)
            at.append(step)
        mask = (rng.random((len(chosen), recipe.hidden)) >= recipe.dropout) / (1.0 - recipe.dropout)
        loss, accuracy, gradients = backward(weights, x[chosen], y[chosen], mask)
        lr = recipe.lr * recipe.schedule(step / recipe.steps)
        rows["train/loss"].append(loss)
        rows["train/accuracy"].append(accuracy)
        rows["lr"].append(lr)
        update(weights, gradients, memory, lr, step, recipe)
    built = {name: series(np.arange(recipe.steps), values) for name, values in rows.items()}
    built |= {name: series(at, values) for name, values in held.items()}
    return Run(id="trained", source="trained", format="made", series=built, originals={n: n for n in built})


def sample(rng: np.random.Generator, centres: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, CLASSES, n)
    return centres[y] + rng.standard_normal((n, INPUTS)), y


def backward(
    weights: list[np.ndarray], x: np.ndarray, y: np.ndarray, mask: np.ndarray
) -> tuple[float, float, list[np.ndarray]]:
    """Cross-entropy, accuracy and gradients."""
    w1, b1, w2, b2 = weights
    hidden = np.maximum(x @ w1 + b1, 0.0) * mask
    logits = hidden @ w2 + b2
    logits -= logits.max(axis=1, keepdims=True)
    total = np.log(np.exp(logits).sum(axis=1))
    rows = np.arange(len(y))
    loss = float(np.mean(total - logits[rows, y]))
    accuracy = float(np.mean(logits.argmax(axis=1) == y))
    error = np.exp(logits - total[:, None])
    error[rows, y] -= 1.0
    error /= len(y)
    back = (error @ w2.T) * mask * (hidden > 0)
    return loss, accuracy, [x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]


def update(
    weights: list[np.ndarray],
    gradients: list[np.ndarray],
    memory: list[list[np.ndarray]],
    lr: float,
    step: int,
    recipe: Recipe,
) -> None:
    first, second = memory
    for i, (w, g) in enumerate(zip(weights, gradients, strict=True)):
        g = g + recipe.weight_decay * w
        if recipe.adam:
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g * g
            scale = np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
            w -= lr * scale * first[i] / (np.sqrt(second[i]) + 1e-8)
        else:
            first[i] = 0.9 * first[i] + g
            w -= lr * first[i]
