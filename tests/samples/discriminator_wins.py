"""Samples for LOS018."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)


def players(d: np.ndarray, g: np.ndarray) -> Run:
    return run({"train/loss_d": d, "train/loss_g": g})


def wobble(seed: int, size: float = 0.1) -> np.ndarray:
    return np.exp(size * rng(seed).standard_normal(60))


def fires() -> dict[str, Run]:
    gone = 1.3 * np.exp(-T / 6) + 1e-4
    return {
        "the generator's loss grows": players(gone * wobble(1), (1 + 0.3 * T) * wobble(2)),
        "other names": run({"train/loss_dis": gone, "train/loss_gen": (1 + 0.3 * T) * wobble(2)}),
        "lost from the start": players(1e-4 * wobble(1), np.full(60, 16.118)),
        "few points": players(
            np.array([1.2, 0.5, 0.1, 0.02, 0.004, 0.001]), np.array([0.8, 1.9, 4.2, 7.0, 9.5, 11.0])
        ),
    }


def stays_quiet() -> dict[str, Run]:
    swing = 0.5 + 0.3 * np.sin(T / 2)
    return {
        "a balance": players((1.1 + 0.2 * swing) * wobble(3), (1.5 + 0.6 * swing) * wobble(4)),
        "leads at first": players(
            np.where(T < 25, 0.02, 0.6) * wobble(5), np.where(T < 25, 4.0, 1.2) * wobble(6)
        ),
        "a slow rise": players((0.6 - 0.003 * T) * wobble(7), (1.0 + 0.02 * T) * wobble(8)),
        "a large weight, and no winner": players((0.7 + 0.1 * swing) * wobble(9), 50 * wobble(10)),
        "a critic": players(-12 + 10 * np.exp(-T / 8), 5 * np.sin(T / 9)),
    }
