"""Samples of host-waits-for-accelerator."""

from __future__ import annotations

import numpy as np

from tests import make, traced
from traindx.vocabulary.run import Run


def on_device(idle: float, calls: float) -> Run:
    """A step of 50 ms of which the accelerator idles a share, with so many synchronizations."""
    parts = {
        **traced.step(0.05, data=0.02, forward=0.3, backward=0.3, optimizer=0.1),
        "time/idle": 0.05 * idle,
    }
    return traced.run({**parts, "time/synchronize": 0.01}, device=True, calls__synchronize=calls)


def live(wait: float, calls: float, **more: float) -> Run:
    """A recorded loop with steps of 100 ms, of which the host waits a share at so many lines."""
    n = 200
    noise = np.exp(0.05 * make.rng(4).standard_normal(n))
    counted = slice(10, 40)
    signals = {"train/loss": make.healthy_loss(n), "time/step": 0.1 * noise}
    signals |= {name: np.full(n, value) for name, value in more.items()}
    steps = np.arange(n)[counted]
    reads = {
        "calls/synchronize": (steps, np.full(30, calls)),
        "time/synchronize": (steps, 0.1 * wait * noise[counted]),
    }
    return make.run({**signals, **reads})


def fires() -> dict[str, Run]:
    return {"a mask in every layer": on_device(0.5, 48), "three readings": on_device(0.2, 3),
            "live, half and half": live(0.5, 1), "live, at four lines": live(0.2, 4)}  # fmt: skip


def stays_quiet() -> dict[str, Run]:
    return {
        "the loss is read": on_device(0.4, 1),
        "often, but the accelerator is busy all the same": on_device(0.05, 30),
        "never": on_device(0.02, 0),
        "live, the host does all the work": live(0.02, 4),
        "live, the accelerator does": live(0.97, 1),
        "live, occasionally": live(0.5, 0),
        "live, and busy": live(0.5, 2, **{"util/device": 0.95}),
        "live, but the loader is slow": live(0.4, 1, **{"time/data": 0.055}),
    }
