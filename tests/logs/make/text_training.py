"""A small network in numpy that is really trained, and a printer that remembers what it prints."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Moment:
    """One optimizer step; the held-out figures are there at the last step of an epoch."""

    step: int  # from 0
    epoch: int  # from 0
    batch: int  # from 0, within the epoch
    loss: float
    acc: float
    lr: float
    norm: float
    seconds: float
    last: bool
    val_loss: float = float("nan")
    val_acc: float = float("nan")


@dataclass
class Printer:
    """Collects lines; `n` formats a number and keeps what was printed, under a column's name."""

    lines: list[str] = field(default_factory=list)
    columns: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    end: str = "\n"

    def __call__(self, text: str = "", end: str = "\n") -> None:
        self.lines.append(text + end)

    def n(self, name: str, step: float, value: float, spec: str = ".4f", text: str = "") -> str:
        shown = text or format(value, spec)
        column = self.columns.setdefault(name, {"steps": [], "values": []})
        column["steps"].append(step)
        column["values"].append(float(shown.strip()))
        return shown


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train(epochs: int = 4, batches: int = 25, peak: float = 0.5, seed: int = 0) -> Iterator[Moment]:
    """Train a two-layer network on three noisy classes; yields every step."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((3, 8))
    labels = rng.integers(0, 3, 32 * batches)
    x = centers[labels] + 1.5 * rng.standard_normal((len(labels), 8))
    held = rng.integers(0, 3, 200)
    xh = centers[held] + 1.5 * rng.standard_normal((200, 8))
    w1, w2 = rng.standard_normal((8, 16)) * 0.5, rng.standard_normal((16, 3)) * 0.5
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(labels))
        for batch in range(batches):
            begin = time.perf_counter()
            pick = order[32 * batch : 32 * batch + 32]
            h = np.tanh(x[pick] @ w1)
            p = softmax(h @ w2)
            loss = float(-np.log(p[np.arange(32), labels[pick]]).mean())
            d = p.copy()
            d[np.arange(32), labels[pick]] -= 1
            g2 = h.T @ d / 32
            g1 = x[pick].T @ ((d @ w2.T) * (1 - h**2)) / 32
            norm = float(np.sqrt((g1**2).sum() + (g2**2).sum()))
            lr = peak * min(1.0, (step + 1) / 10) * (1 - step / (epochs * batches))
            w1, w2 = w1 - lr * g1, w2 - lr * g2
            acc = float((p.argmax(1) == labels[pick]).mean())
            moment = Moment(
                step, epoch, batch, loss, acc, lr, norm, time.perf_counter() - begin, batch == batches - 1
            )
            if moment.last:
                ph = softmax(np.tanh(xh @ w1) @ w2)
                moment.val_loss = float(-np.log(ph[np.arange(200), held]).mean())
                moment.val_acc = float((ph.argmax(1) == held).mean())
            yield moment
            step += 1
