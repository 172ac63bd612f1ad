"""Samples of loss-has-no-floor."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.captured import several
from traindx.vocabulary.run import Run

TIMES = np.arange(300) / 300


def noisy(clean: np.ndarray, noise: float = 0.05, seed: int = 0) -> dict[str, np.ndarray]:
    return {"train/loss": clean * (1 + noise * make.rng(seed).standard_normal(len(clean)))}


def exploding(seed: int) -> np.ndarray:
    """The largest exp(log-variance) of a batch, which is uneven: no part need lie below the one before."""
    spread = np.where(TIMES < 0.3, 40 * TIMES / 0.3, 40.0)
    return np.exp(spread + 4 * make.rng(seed).standard_normal(len(TIMES)))


def fires() -> dict[str, Run]:
    return {
        "a log-likelihood without its minus": make.run(noisy(-2.3 - 5000 * TIMES**3)),
        "ever faster": make.run(noisy(-2.3 * np.exp(7 * TIMES), seed=1)),
        "from above zero": make.run(noisy(4.0 - 900 * TIMES**2, seed=2)),
        "a divergence of a VAE with the wrong sign": make.run({"train/loss": 44.0 - exploding(7)}),
    }


def stays_quiet() -> dict[str, Run]:
    density = 6.0 - 22.0 * (1 - np.exp(-6 * TIMES))
    return {
        **several("healthy", "healthy_values"),
        "a log-density": make.run({"train/loss": density + 0.3 * make.rng(3).standard_normal(300)}),
        "a policy's loss about zero": make.run({"train/loss": 0.02 * make.rng(4).standard_normal(300)}),
        "a critic without a bound": make.run(
            {"train/loss": -800 * TIMES + make.rng(8).standard_normal(300)}
        ),
        "a straight fall": make.run(noisy(-1.0 - 60 * TIMES, seed=5)),
        "it explodes upwards": make.run(noisy(2.3 * np.exp(7 * TIMES), seed=6)),
    }
