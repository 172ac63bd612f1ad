"""Rates that jump, and the schedules in use that do not."""

from __future__ import annotations

import numpy as np

from tests import make
from tests.trainer import Recipe, cosine, train
from traindx.vocabulary.run import Event, Run


def rates(values: np.ndarray, **more: object) -> Run:
    return make.run(
        {"lr": np.asarray(values, dtype=np.float64), "train/loss": make.healthy_loss(len(values)), **more}
    )


def half_cosine(n: int, peak: float = 1e-3, floor: float = 0.0) -> np.ndarray:
    return floor + (peak - floor) * 0.5 * (1 + np.cos(np.pi * np.arange(n) / n))


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Rounded as bfloat16 does: 8 bits of the significand."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 256) / 256, exponent)


def fires() -> dict[str, Run]:
    n = 200
    flat = np.full(n, 1e-3)
    spike, up, down = flat.copy(), flat.copy(), flat.copy()
    spike[100:104] = 1e-1
    up[120:] = 1e-2
    down[80:] = 1e-6
    late = np.concatenate([half_cosine(150)[:100], half_cosine(100, 5e-3)])
    swings = np.where(np.arange(n) // 10 % 2, 1.0, 0.01)
    bumped = make.healthy_loss(n)
    bumped[120:140] += 1.0
    return {
        "ten times more from the middle on": rates(up),
        "a few steps at a hundred times": rates(spike),
        "a thousandth, all at once": rates(down),
        "back above the old peak": rates(late),
        "1.0 and 0.01 in turn": rates(swings),
        "the loss jumps along": make.run({"lr": up, "train/loss": bumped}),
        "one of several groups": make.run(
            {"lr/head": flat, "lr/trunk": up / 10, "train/loss": make.healthy_loss(n)}
        ),
        "after a resume": make.run(
            {
                "lr": np.concatenate([np.full(120, 1e-4), np.full(80, 1e-3)]),
                "train/loss": make.healthy_loss(200),
            },
            events=(Event("resume", "resumed from a checkpoint", step=120.0),),
        ),
    }


def stays_quiet() -> dict[str, Run]:
    n = 200
    flat = np.full(n, 0.1)
    steps = 0.1 * 0.1 ** np.digitize(np.arange(n), [60, 120, 160])
    warm = np.minimum(np.arange(n) / 20, 1.0)
    triangle = 1e-5 + 1e-3 * (1 - np.abs(np.arange(n) % 40 / 20 - 1))
    growing = np.concatenate([half_cosine(20), half_cosine(40), half_cosine(80), half_cosine(60)])
    stairs = np.repeat([1e-5, 1e-4, 1e-3], [10, 10, 180])
    square_root = 1e-3 * np.minimum(np.arange(1, n + 1) / 20, np.sqrt(20 / np.arange(1, n + 1)))
    return {
        "constant": rates(flat),
        "a last millionth that is printed as 0": rates(
            np.where(np.arange(n) < 190, half_cosine(n, floor=1e-6), 0)
        ),
        "cosine, trained": train(Recipe(samples=20000, schedule=cosine)),
        "step decay by ten": rates(steps),
        "warm-up and cosine to zero": rates(warm * half_cosine(n)),
        "warm-up and inverse square root": rates(square_root),
        "warm-up in stairs": rates(stairs),
        "warm restarts": rates(np.tile(half_cosine(40), 5)),
        "warm restarts, each longer": rates(growing),
        "one restart": rates(np.concatenate([half_cosine(100), half_cosine(100)])),
        "triangles": rates(triangle),
        "triangles, logged sparsely": rates(triangle[::5]),
        "exponential decay": rates(1e-2 * 0.9 ** np.arange(n)),
        "linear to zero, and zero": rates(np.maximum(1e-3 * (1 - np.arange(n) / 160), 0.0)),
        "cosine in bfloat16": rates(to_bfloat16(half_cosine(n))),
        "printed with four digits": rates(np.round(5e-4 * (1 - np.arange(n) / n), 4)),
        "halved when the loss levels off": rates(0.1 * 0.5 ** np.digitize(np.arange(n), [70, 95, 140, 150])),
        "a declared phase": make.run(
            {"lr": np.repeat([1e-4, 1e-3], 100), "train/loss": make.healthy_loss(n)},
            events=(Event("phase", "backbone unfrozen", step=100.0),),
        ),
    }
