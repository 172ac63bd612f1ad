"""Healthy runs that look ill: every rule must stay below medium on all of them."""

from __future__ import annotations

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def power_law(
    n: int, start: float, floor: float, sharpness: float = 30.0, exponent: float = 0.9
) -> np.ndarray:
    """A clean power-law fall over `n` points from `start` towards `floor`."""
    t = np.arange(n) / n
    return floor + (start - floor) * (1 + sharpness * t) ** -exponent


def heavy_tailed(n: int = 2000, seed: int = 1) -> np.ndarray:
    """Batch loss with Student-t(3) noise: single points are far out, and mean nothing."""
    return power_law(n, 2.3, 0.8) + 0.12 * rng(seed).standard_t(3, n)


def log_normal(n: int = 2000, seed: int = 2) -> np.ndarray:
    """Loss of batches of one: log-normal around the trend."""
    return power_law(n, 2.0, 0.5) * np.exp(0.5 * rng(seed).standard_normal(n))


def near_zero(n: int = 1000, seed: int = 3) -> np.ndarray:
    """A loss that converges to about 1e-6: its ratio to the minimum is huge and meaningless."""
    return power_law(n, 1e-2, 1e-6, 300, 1.5) * np.exp(0.3 * rng(seed).standard_normal(n))


def negative(n: int = 800, seed: int = 4) -> np.ndarray:
    """A negative log-likelihood of densities, which passes through zero."""
    return power_law(n, 3.0, -5.0) + 0.15 * rng(seed).standard_normal(n)


def warm_restarts(n: int = 1200, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """SGDR: cosine from the top again every 300 points; the loss rises a little at each."""
    phase = (np.arange(n) % 300) / 300
    lr = 0.05 * (1 + np.cos(np.pi * phase))
    loss = power_law(n, 2.3, 0.4) + 1.2 * lr * power_law(n, 1.0, 0.4) + 0.02 * rng(seed).standard_normal(n)
    return loss, lr


def warm_up(n: int = 600, seed: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Linear warm-up over a tenth of the run: flat at first, then the usual fall."""
    lr = 3e-4 * np.minimum(np.arange(n) / (n / 10), 1.0) * (1 - 0.9 * np.arange(n) / n)
    travelled = np.cumsum(lr) / lr.sum()
    return 2.5 + 8.0 * np.exp(-12 * travelled) - 0.3 * travelled + 0.05 * rng(seed).standard_normal(n), lr


def fine_tune(n: int = 60, seed: int = 7) -> np.ndarray:
    """A short fine-tune: starts low, improves by a tenth, batch noise as large as the gain."""
    return 1.45 - 0.22 * (1 - np.exp(-np.arange(n) / 12)) + 0.08 * rng(seed).standard_normal(n)


def reward(n: int = 800, seed: int = 8) -> np.ndarray:
    """Episode reward that climbs with large noise; higher is better."""
    t = np.arange(n) / n
    return 200 / (1 + np.exp(-12 * (t - 0.4))) + 25 * rng(seed).standard_normal(n)


def s_curve(n: int = 500, seed: int = 9) -> np.ndarray:
    """Flat for 60 % of the run, then the drop."""
    t = np.arange(n) / n
    return 2.3 - 2.0 / (1 + np.exp(-60 * (t - 0.65))) + 0.03 * rng(seed).standard_normal(n)


def dropout_gap(epochs: int = 40, seed: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Training loss measured with dropout is above validation throughout."""
    clean = power_law(epochs, 2.2, 0.35)
    noise = rng(seed)
    return clean * 1.35 + 0.01 * noise.standard_normal(epochs), clean + 0.02 * noise.standard_normal(epochs)


def noisy_validation(epochs: int = 60, seed: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """A small validation set: the loss jitters by 10 % around a level that goes on falling a little."""
    noise = rng(seed)
    train = power_law(epochs, 2.0, 0.2)
    return train, power_law(epochs, 2.1, 0.45) * (1 + 0.1 * noise.standard_normal(epochs))


def constant_gap(epochs: int = 50, seed: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Validation well above training, and level: a gap that does not grow."""
    noise = rng(seed)
    train = power_law(epochs, 2.0, 0.1)
    return train, power_law(epochs, 2.1, 0.5) + 0.01 * noise.standard_normal(epochs)


def all_runs() -> dict[str, Run]:
    """Every look-alike as a run with the signals that its log would have."""
    return {**usual_runs(), **runs_with_validation(), **runs_with_gradients()}


def usual_runs() -> dict[str, Run]:
    """A training loss, alone or with the learning rate or a reward."""
    restarts, restart_lr = warm_restarts()
    warming, warming_lr = warm_up()
    cosine = 1e-3 * 0.5 * (1 + np.cos(np.pi * np.arange(400) / 400))
    return {
        "plain": run({"train/loss": healthy_loss()}),
        "plain, long": run({"train/loss": healthy_loss(5000, seed=3)}),
        "cosine": run({"train/loss": healthy_loss(400, seed=6), "lr": cosine}),
        "heavy-tailed": run({"train/loss": heavy_tailed()}),
        "log-normal": run({"train/loss": log_normal()}),
        "near zero": run({"train/loss": near_zero()}),
        "negative": run({"train/loss": negative()}),
        "warm restarts": run({"train/loss": restarts, "lr": restart_lr}),
        "warm-up": run({"train/loss": warming, "lr": warming_lr}),
        "fine-tune": run({"train/loss": fine_tune()}),
        "reward": run({"train/reward": reward(), "train/policy_loss": 0.05 * rng(1).standard_normal(800)}),
        "s-curve": run({"train/loss": s_curve()}),
    }


def runs_with_validation() -> dict[str, Run]:
    drop_train, drop_val = dropout_gap()
    noisy_train, noisy_val = noisy_validation()
    gap_train, gap_val = constant_gap()
    epochs = {
        "train/loss": healthy_loss(20, noise=0.01, seed=4),
        "val/loss": healthy_loss(20, floor=0.4, seed=5),
    }
    return {
        "plain, epochs": run(epochs),
        "dropout gap": run({"train/loss": drop_train, "val/loss": drop_val}),
        "noisy validation": run({"train/loss": noisy_train, "val/loss": noisy_val}),
        "constant gap": run({"train/loss": gap_train, "val/loss": gap_val}),
    }


def runs_with_gradients() -> dict[str, Run]:
    return {
        "grad norm": run(
            {
                "train/loss": healthy_loss(seed=7),
                "grad_norm": 1.5 * np.exp(0.3 * rng(2).standard_normal(400)),
            }
        ),
        "grpo": run(
            {
                "train/loss": np.zeros(50),
                "grad_norm": 0.1 + 0.01 * rng(3).standard_normal(50),
                "train/reward": 1.5 + 0.01 * np.arange(50) + 0.1 * rng(4).standard_normal(50),
            }
        ),
    }
