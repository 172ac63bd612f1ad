"""Samples of quantized-gradients-imbalanced."""

from __future__ import annotations

import msgspec
import numpy as np

from tests import make
from traindx.vocabulary.run import Floats, Panel, Run

N = 30
STEPS = 10.0 * np.arange(N)


def run_of(times: tuple[float, ...], quantized: int, loss: Floats | None = None, zero: float = 0.4) -> Run:
    """Modules with gradients of these sizes, of which the first ones are quantized."""
    noise = np.exp(0.3 * make.rng(5).standard_normal((N, len(times))))
    names = tuple(f"body.{i}" for i in range(len(times)))
    zeros = np.clip(zero + 0.05 * make.rng(6).standard_normal((N, quantized)), 0, 1)
    return make.run(
        {"train/loss": make.healthy_loss(10 * N) if loss is None else loss},
        panels={
            "grad_norm": Panel(STEPS, names, np.array(times)[None] * noise),
            "quant/zero_fraction": Panel(STEPS, names[:quantized], zeros),
        },
    )


def passed(*times: float, grows: float = 1.0, loss: Floats | None = None) -> Run:
    """What the backward pass makes of the gradient, by module; `grows`: from the start to the end."""
    change = np.geomspace(1, grows, N)[:, None]
    noise = np.exp(0.1 * make.rng(9).standard_normal((N, len(times))))
    run = run_of((1.0,) * (len(times) + 1), len(times), loss)
    names = tuple(f"body.{i}" for i in range(len(times)))
    return msgspec.structs.replace(
        run, panels={**run.panels, "quant/gradient": Panel(STEPS, names, np.array(times) * change * noise)}
    )


def scaled(times: float) -> Run:
    """Weights brought to the range -1 .. 1, and their gradients scaled by as much."""
    run = passed(times, times)
    kept = Panel(STEPS, run.panels["quant/gradient"].modules, np.full((N, 2), 0.8 * times))
    return msgspec.structs.replace(run, panels={**run.panels, "quant/kept": kept})


def learnt(times: float) -> Run:
    """A scale within the module of its weights, that moves so many times as fast."""
    run = passed(1.0)
    moved = np.exp(0.3 * make.rng(3).standard_normal((N, 3))) * np.array([0.002, 0.002 * times, 0.01])
    ratios = Panel(STEPS, ("body.0", "body.0.0", "body.1"), moved)
    return msgspec.structs.replace(run, panels={**run.panels, "update_ratio": ratios})


def fires() -> dict[str, Run]:
    flat = 2.3 + 0.01 * make.rng(4).standard_normal(10 * N)
    return {
        "three hundred times larger": run_of((300.0, 400.0, 1.0), 2, flat),
        "a thousandth": run_of((1e-3, 2e-3, 1.0, 1.5), 2, flat),
        "a backward pass that forgets the scale": passed(1.0, 280.0, loss=flat),
        "one that scales down": passed(1e-3, 1e-3),
        "the scale grows to one": passed(300.0, grows=1 / 200, loss=flat),
        "though the run learns": run_of((500.0, 1.0), 1),
        "a scale that races": learnt(3000.0),
    }


def stays_quiet() -> dict[str, Run]:
    deep = tuple(10.0 ** (-i / 3) for i in range(8))
    return {
        "straight through": passed(1.0, 1.0),
        "clipped": passed(0.6, 0.2),
        "a quantizer that scales weights up": scaled(50.0),
        "through a scale that is learnt": passed(3.0, 1.5),
        "a scale that keeps pace": learnt(4.0),
        "similar": run_of((1.0, 0.8, 1.3), 2),
        "tenfold": run_of((12.0, 8.0, 1.0), 2),
        "a twentieth": run_of((0.05, 0.04, 1.0), 2),
        "layers of zeros, which get no gradient": run_of((1e-5, 1e-5, 1.0), 2, zero=1.2),
        "gradients that fall with depth": run_of(deep, 4),
    }
