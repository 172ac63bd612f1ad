"""Samples for reference-moves-along: levels as the DPO trainer of TRL logs them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(20.0)


def tuned(margins: np.ndarray, rate: float = 5e-6) -> Run:
    return run({
        "train/loss": np.log1p(np.exp(-margins)), "train/rewards_margins": margins, "lr": np.full(20, rate),
    })  # fmt: skip


def fires() -> dict[str, Run]:
    return {"compared with itself": tuned(0 * T), "rounding": tuned(1e-6 * rng(1).standard_normal(20))}


def stays_quiet() -> dict[str, Run]:
    return {
        "learns slowly": tuned(1e-3 * T),
        "dropout": tuned(0.01 * rng(1).standard_normal(20)),
        "the rate is zero": tuned(0 * T, rate=0.0),
    }
