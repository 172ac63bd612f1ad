"""Samples for LOS002."""

import numpy as np

from tests.lookalikes import heavy_tailed, near_zero, negative, warm_restarts
from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run


def held_out() -> np.ndarray:
    """A validation loss that is lowest after 20 of 400 points, and rises for the rest of the run."""
    steps = np.arange(400)
    return (
        0.8
        + 1.6 * np.exp(-steps / 6)
        + 0.01 * np.maximum(0, steps - 20)
        + 0.02 * rng(6).standard_normal(400)
    )


def fires() -> dict[str, Run]:
    noise = rng(3)
    late = healthy_loss(400)
    late[300:] += 2.0 * (1 - np.exp(-np.arange(100) / 15))
    rising = 7.2 + 5.0 * (1 - np.exp(-np.arange(80) / 20)) + 0.1 * noise.standard_normal(80)
    jump = np.concatenate([1.5 - 0.2 * np.arange(40) / 40, [36.8, 20.0, 12.0], np.full(60, 7.8)])
    jump *= 1 + 0.03 * noise.standard_normal(len(jump))
    blown_up = 2.3 * np.exp(-np.arange(120) / 9) + 0.017
    blown_up[75:] += np.concatenate(
        [0.02 * np.exp(np.arange(24) / 7), np.full(12, 0.55), np.linspace(0.4, 0.1, 9)]
    )
    slow = healthy_loss(600, seed=5) + np.concatenate([np.zeros(300), np.linspace(0, 3, 300)])
    return {
        "late": run({"train/loss": late}),
        "from the start": run({"train/loss": rising}),
        "sudden, never back": run({"train/loss": jump}),
        "gradual": run({"train/loss": slow}),
        "validation alone, slowly": run({"val/loss": held_out()}),
        "one good evaluation, then never again": run({"val/loss": np.array([0.02, 0.49, 0.49, 0.49])}),
        "blown up for a third of the run, half back": run({"train/loss": blown_up}),
    }


def stays_quiet() -> dict[str, Run]:
    bump = healthy_loss(400)
    bump[200:230] += 1.5 * np.exp(-np.arange(30) / 8)
    up_a_little = healthy_loss(400)
    up_a_little[300:] += 0.08
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "heavy-tailed": run({"train/loss": heavy_tailed()}),
        "a first value that is too low": run({"val/loss": np.array([0.3, 2.3, 2.2, 2.1])}),
        "near zero": run({"train/loss": near_zero()}),
        "negative": run({"train/loss": negative()}),
        "warm restarts": run({"train/loss": warm_restarts()[0]}),
        "a bump that heals": run({"train/loss": bump}),
        "cut off as it comes back from a spike": run(
            {
                "train/loss": np.concatenate(
                    [
                        2.3 * np.exp(-np.arange(34) / 6) + 0.02,
                        [0.65, 0.45, 0.2, 0.09, 0.03],
                    ]
                )
            }
        ),
        "a little up": run({"train/loss": up_a_little}),
    }
