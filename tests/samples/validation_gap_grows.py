"""Runs that overfit, most of them really; and runs that look like it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests import make
from tests.trainer import Recipe, cosine, train
from traindx.vocabulary.run import Run

EXCEPTIONS = {
    f"halved: {name}": "two evaluations are no trend"
    for name in (
        "three epochs of fine-tuning",
        "three epochs, the first without a training loss",
        "three epochs, the second little worse",
        "first and last epoch, pasted",
    )
}
SCATTERED = np.array([2.8, 7.8, 4.6, 10.9, 6.5, 11.5, 10.2])
JUMPS = np.array([1.2, 0.7, 3.3, 3.7, 2.1, 3.2, 4.3])
RETURNS = np.array([2.8, 7.8, 4.6, 10.9, 3.0, 11.5, 10.2])


def fall(n: int, start: float, floor: float, pace: float = 30.0) -> np.ndarray:
    return floor + (start - floor) * (1 + pace * np.arange(n) / n) ** -1.0


def both(train_loss: np.ndarray, val_loss: np.ndarray, every: int = 1, **more: object) -> Run:
    at = np.arange(len(val_loss)) * every
    return make.run({"train/loss": train_loss, "val/loss": (at, val_loss), **more})


def noise(n: int, size: float, seed: int = 1) -> np.ndarray:
    return size * make.rng(seed).standard_normal(n)


def late(seed: int = 0) -> Run:
    """Validation falls for 6000 rows of 9000 and then rises, slowly and noisily."""
    t = np.arange(0, 9000, 100)
    val = 0.6 + 1.7 * np.exp(-t / 1500) + np.maximum(t - 6000, 0) / 3000 * 0.25 + noise(len(t), 0.015, seed)
    return both(fall(9000, 2.3, 0.05) * (1 + noise(9000, 0.2, seed + 1)), val, 100)


def three_epochs() -> dict[str, Run]:
    return {
        "three epochs of fine-tuning": both(np.array([0.52, 0.35, 0.15]), np.array([0.38, 0.47, 0.57])),
        "three epochs, the first without a training loss": make.run(
            {
                "train/loss": (np.array([1, 2]), np.array([0.35, 0.15])),
                "val/loss": np.array([0.38, 0.43, 0.5]),
            }
        ),
        "three epochs, the second little worse": both(
            np.array([0.32, 0.193, 0.121]), np.array([0.265, 0.2776, 0.328])
        ),
        "first and last epoch, pasted": make.run(
            {
                "train/loss": (np.array([1, 29]), np.array([0.0481, 0.001])),
                "val/loss": (np.array([1, 29]), np.array([0.0378, 0.0916])),
            }
        ),
    }


def fires() -> dict[str, Run]:
    noisy = Recipe(samples=400, label_noise=0.4, hidden=64, steps=800)
    epochs = np.arange(30)
    val = 0.5 + 1.5 * np.exp(-epochs / 3)
    return {
        **three_epochs(),
        "150 samples, 128 units, trained": train(Recipe(samples=100, hidden=64, apart=0.6, steps=600)),
        "40 % wrong labels, trained": train(noisy),
        "five validations, trained": train(replace(noisy, validate_every=160)),
        "begins after thousands of rows": late(),
        "four epochs of fine-tuning": both(
            fall(400, 1.4, 0.1) + noise(400, 0.05), np.array([1.21, 1.15, 1.27, 1.42]), 100
        ),
        "scattered evaluations far above the first": both(fall(700, 9.0, 4.0), SCATTERED, 100),
        "jumps after its second evaluation": both(fall(600, 1.4, 0.3), JUMPS, 100),
        "loss below zero": both(fall(300, 1.0, -4.0), -2.0 + 2.5 * np.exp(-np.arange(30) / 3) + epochs * 0.05, 10),
        "heavy tails": both(
            fall(1500, 2.3, 0.05) * np.exp(noise(1500, 0.5)),
            np.append(val, 0.5 + np.arange(20) * 0.03) * np.exp(0.02 * make.rng(5).standard_t(3, 50)),
            30,
        ),
        "validation stalls while training goes on": both(
            fall(60, 2.3, 0.01), 0.7 + 1.6 * np.exp(-np.arange(60.0) / 5) + noise(60, 0.005)
        ),
        "four level points, far above": both(fall(400, 1.4, 0.1), np.array([1.20, 1.13, 1.15, 1.14]), 100),
        "another set, from the first epoch": make.run({
            "train/accuracy": np.array([0.88, 0.99, 0.994, 0.995, 0.995, 0.996]),
            "val/accuracy": np.array([0.26, 0.24, 0.36, 0.35, 0.33, 0.35]),
        }),
        "far above, and not from the beginning": both(
            fall(60, 2.3, 0.05), np.maximum(1.9 * np.exp(-np.arange(60.0) / 20), 0.9) + noise(60, 0.005)
        ),
        "one validation, at the end": make.run({
            "train/loss": np.array([0.9, 0.5, 0.3, 0.2, 0.1, 0.08, 0.07, 0.06, 0.06]), "val/loss": ([8.0], [1.9])
        }),
        "only accuracies": make.run({
            "train/accuracy": 1 - fall(60, 0.9, 0.0),
            "val/accuracy": 0.8 - 0.6 * np.exp(-np.arange(60) / 5) - np.maximum(np.arange(60) - 25, 0) * 0.006,
        }),
    }  # fmt: skip


def other_epochs() -> dict[str, Run]:
    return {
        "evaluated once, before the training": make.run(
            {"train/loss": fall(400, 2.3, 0.01), "val/loss": (np.array([1.0]), np.array([2.3]))}
        ),
        "three epochs without a trend": both(np.array([0.52, 0.35, 0.15]), np.array([0.38, 0.33, 0.36])),
        "three evaluations in order, within noise": both(
            np.array([0.32, 0.193, 0.121]), np.array([0.265, 0.27, 0.283])
        ),
        "two evaluations, the last a third worse": both(np.array([0.48, 0.12]), np.array([0.38, 0.51])),
        "three epochs, hardly worse": both(np.array([0.52, 0.35, 0.15]), np.array([0.38, 0.385, 0.40])),
        "three epochs in which both rise": both(np.array([0.5, 0.6, 0.8]), np.array([0.5, 0.7, 0.9])),
    }


def stays_quiet() -> dict[str, Run]:
    t = np.arange(60.0)
    healthy = fall(60, 2.3, 0.4)
    wobble = np.sin(t / 4) * 0.03
    hump = healthy + 0.5 * np.exp(-(((t - 20) / 6) ** 2))
    drawn = 0.5 + 1.8 * np.exp(-t / 10)
    one_up = healthy.copy()
    one_up[-1] *= 1.3
    return {
        **other_epochs(),
        "plenty of data, trained": train(Recipe(samples=20000)),
        "one of five classes gets worse": make.run(
            {
                "train/loss": healthy,
                "val/movie_f1": 0.6 - 0.004 * np.abs(t - 15),
                **{f"val/{name}_f1": 0.3 + 0.005 * t for name in ("book", "game", "scene", "name")},
            }
        ),
        "cosine, trained": train(Recipe(samples=20000, schedule=cosine)),
        "dropout, trained": train(Recipe(samples=20000, dropout=0.5)),
        "high noise at batch 8, trained": train(Recipe(samples=20000, apart=0.4, batch=8)),
        "too small to overfit, trained": train(Recipe(hidden=1, weight_decay=0.1)),
        "constant gap": both(healthy, healthy + 0.3 + noise(60, 0.01)),
        "gap grows while validation improves": both(fall(60, 2.3, 0.01), fall(60, 2.3, 0.5)),
        "one uptick at the end": both(healthy, one_up),
        "one spike in the middle": both(healthy, np.where(t == 30, 2.0, healthy)),
        "noisy level": both(fall(60, 2.3, 0.4), 0.6 + 1.5 * np.exp(-t / 4) + noise(60, 0.05, 3)),
        "both wobble": both(healthy + wobble, healthy + 0.1 + wobble),
        "both diverge": both(
            np.append(drawn, 0.5 + np.arange(20) * 0.1),
            np.append(drawn, 0.52 + np.arange(20) * 0.1) + noise(80, 0.01),
        ),
        "rises and falls again": both(fall(60, 2.3, 0.01), hump),
        "levels off": both(fall(60, 2.3, 0.5), 0.7 + 1.6 * np.exp(-t / 5) + noise(60, 0.005)),
        "four noisy points": both(fall(400, 1.4, 0.6), np.array([1.20, 1.13, 1.15, 1.14]), 100),
        "scattered evaluations, one near the first": both(fall(700, 9.0, 4.0), RETURNS, 100),
        "both losses near zero": both(
            fall(60, 2.3, 1e-5), 1e-4 + 2.3 * np.exp(-t) + np.maximum(t - 30, 0) * 2e-6
        ),
    }
