"""The nets that `traindx demo` trains: a small classifier in numpy, healthy or broken in one way.

The task is made up: points of ten classes on noisy curves in 16 dimensions. The training loop is
the usual one (mini-batches, SGD with momentum, cross-entropy, validation every few dozen steps) and
writes the usual log, a CSV. A fault changes the recipe, never the log.
"""

import csv
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from traindx.vocabulary import Floats, Ints

CLASSES, FEATURES = 10, 16
COLUMNS = ("step", "epoch", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "lr", "grad_norm")
LOG_EVERY, VALIDATE_EVERY = 10, 50
MAX_STEPS = 3000


class Recipe(NamedTuple):
    """How one net is trained. `warmup`: steps over which the rate rises linearly to `lr`.
    `label_noise`: share of training labels drawn at random. `hidden_bias`: initial bias of the
    hidden units. `corrupt`: number of samples with a NaN."""

    lr: float = 0.05
    warmup: int = 0
    momentum: float = 0.9
    width: int = 64
    batch: int = 32
    samples: int = 3000
    steps: int = MAX_STEPS
    weight_decay: float = 1e-3
    label_noise: float = 0.0
    shuffle: bool = True
    hidden_bias: float = 0.0
    corrupt: int = 0


class Fault(NamedTuple):
    """A demo: its recipe, the causes that would be a right answer, and the truth in words."""

    recipe: Recipe
    causes: tuple[str, ...]
    truth: str


FAULTS = {
    "learning-rate-too-high": Fault(
        Recipe(lr=3.0, warmup=3000),
        ("learning-rate-too-high",),
        "the learning rate rises to 3.0 over 3,000 steps; for this network 0.05 works",
    ),
    "learning-rate-too-low": Fault(
        Recipe(lr=2e-6),
        ("learning-rate-too-low",),
        "the learning rate is 0.000002; for this network 0.05 works",
    ),
    "overfitting": Fault(
        Recipe(samples=200, width=128, weight_decay=0.0, label_noise=0.2, lr=0.02, steps=2000),
        ("insufficient-regularization", "too-little-data", "label-noise"),
        "128 units a layer learned 200 samples, one label in five of them wrong, with no regularization",
    ),
    "unshuffled-data": Fault(
        Recipe(shuffle=False, samples=10_000),
        ("unshuffled-data",),
        "the training data were sorted by class and never shuffled",
    ),
    "dead-relus": Fault(
        Recipe(hidden_bias=-20.0),
        ("dead-relus", "bad-initialization"),
        "the hidden biases started at -20, so that no unit ever became active and no gradient reached them",
    ),
    "corrupt-samples": Fault(
        Recipe(samples=20_000, corrupt=1),
        ("corrupt-samples", "unstable-numerics"),
        "one of the 20,000 training samples held a NaN",
    ),
    "healthy": Fault(Recipe(), ("healthy",), "nothing: this net was trained as it should be"),
}


class Data(NamedTuple):
    """Inputs `[n, 16]`, labels `[n]`, for training and validation."""

    inputs: Floats
    labels: Ints
    val_inputs: Floats
    val_labels: Ints


Layers = list[tuple[Floats, Floats]]  # (weights [in, out], biases [out]) of each layer


def train(recipe: Recipe, log: Path, seed: int, on_step: Callable[[int], None]) -> None:
    """Train by the recipe and write `log`; `on_step(step)` is called as the work goes on."""
    rng = np.random.default_rng(seed)
    data = make_data(recipe, rng)
    sizes = (FEATURES, recipe.width, recipe.width, CLASSES)
    layers: Layers = [
        (rng.normal(0, np.sqrt(2 / a), (a, b)), np.full(b, recipe.hidden_bias if b != CLASSES else 0.0))
        for a, b in pairwise(sizes)
    ]
    velocity: Layers = [(np.zeros_like(w), np.zeros_like(b)) for w, b in layers]
    with log.open("w", newline="", encoding="utf-8") as stream, np.errstate(all="ignore"):
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for step, (epoch, rows) in zip(range(recipe.steps + 1), batches(recipe, data, rng), strict=False):
            lr = recipe.lr * min(1.0, (step + 1) / max(1, recipe.warmup))
            loss, accuracy, gradients = gradients_of(layers, data.inputs[rows], data.labels[rows])
            if step % LOG_EVERY == 0:
                writer.writerow(
                    [step, epoch, loss, accuracy, *validation(step, layers, data), lr, norm(gradients)]
                )
                on_step(step)
            update(layers, velocity, gradients, recipe, lr)


def make_data(recipe: Recipe, rng: np.random.Generator) -> Data:
    """Each class is a closed curve in space, sampled with noise; neighbouring classes overlap."""
    n = recipe.samples + 1000
    phases = rng.uniform(0, 2 * np.pi, (CLASSES, FEATURES))
    labels = rng.integers(0, CLASSES, n)
    angle = rng.uniform(0, 2 * np.pi, (n, 1)) * np.array([1, 2] * (FEATURES // 2))
    inputs = np.sin(angle + phases[labels]) + rng.normal(0, 0.5, (n, FEATURES))
    cut = recipe.samples
    if not recipe.shuffle:
        labels[:cut], inputs[:cut] = (
            x[:cut][np.argsort(labels[:cut], kind="stable")] for x in (labels, inputs)
        )
    noisy = labels.copy()
    wrong = rng.random(n) < recipe.label_noise
    noisy[wrong] = rng.integers(0, CLASSES, int(wrong.sum()))
    inputs[cut // 2 : cut // 2 + recipe.corrupt, 0] = np.nan
    return Data(inputs[:cut], noisy[:cut], inputs[cut:], labels[cut:])


def batches(recipe: Recipe, data: Data, rng: np.random.Generator) -> Iterator[tuple[int, Ints]]:
    """Endless (epoch, row numbers of a batch)."""
    n, epoch = len(data.labels), 0
    while True:
        order = rng.permutation(n) if recipe.shuffle else np.arange(n)
        for start in range(0, n - recipe.batch + 1, recipe.batch):
            yield epoch, order[start : start + recipe.batch]
        epoch += 1


def forward(layers: Layers, inputs: Floats) -> list[Floats]:
    """The input of every layer, then the logits."""
    values = [inputs]
    for weights, biases in layers[:-1]:
        values.append(np.maximum(values[-1] @ weights + biases, 0.0))
    return [*values, values[-1] @ layers[-1][0] + layers[-1][1]]


def cross_entropy(logits: Floats, labels: Ints) -> tuple[float, float, Floats]:
    """Mean loss, accuracy, and the probabilities `[n, classes]`."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -float(logs[np.arange(len(labels)), labels].mean())
    return loss, float((logits.argmax(axis=1) == labels).mean()), np.exp(logs)


def gradients_of(layers: Layers, inputs: Floats, labels: Ints) -> tuple[float, float, Layers]:
    """Loss and accuracy of one batch, and the gradient of every layer by backpropagation."""
    values = forward(layers, inputs)
    loss, accuracy, delta = cross_entropy(values[-1], labels)
    delta[np.arange(len(labels)), labels] -= 1.0
    delta /= len(labels)
    gradients: Layers = []
    for (weights, _), below in zip(reversed(layers), reversed(values[:-1]), strict=True):
        gradients.insert(0, (below.T @ delta, delta.sum(axis=0)))
        delta = (delta @ weights.T) * (below > 0)
    return loss, accuracy, gradients


def validation(step: int, layers: Layers, data: Data) -> tuple[float | str, float | str]:
    """Loss and accuracy on held-out data, or empty cells between two validations."""
    if step % VALIDATE_EVERY:
        return "", ""
    return cross_entropy(forward(layers, data.val_inputs)[-1], data.val_labels)[:2]


def norm(gradients: Layers) -> float:
    return float(np.sqrt(sum(np.vdot(g, g) for pair in gradients for g in pair)))


def update(layers: Layers, velocity: Layers, gradients: Layers, recipe: Recipe, lr: float) -> None:
    """One step of SGD with momentum, in place; biases do not decay."""
    for layer, speed, gradient in zip(layers, velocity, gradients, strict=True):
        for part, decay in ((0, recipe.weight_decay), (1, 0.0)):
            speed[part][...] = recipe.momentum * speed[part] + gradient[part] + decay * layer[part]
            layer[part][...] -= lr * speed[part]
