"""Samples of host-waits-for-accelerator."""

from __future__ import annotations

from tests import traced
from traindx.vocabulary.run import Run


def on_device(idle: float, calls: float) -> Run:
    """A step of 50 ms of which the accelerator idles a share, with so many synchronizations."""
    parts = {**traced.step(0.05, data=0.02, forward=0.3, backward=0.3, optimizer=0.1), "time/idle": 0.05 * idle}
    return traced.run({**parts, "time/synchronize": 0.01}, device=True, calls__synchronize=calls)


def fires() -> dict[str, Run]:
    return {"a mask in every layer": on_device(0.5, 48), "three readings": on_device(0.2, 3)}


def stays_quiet() -> dict[str, Run]:
    return {
        "the loss is read": on_device(0.4, 1),
        "often, but the accelerator is busy all the same": on_device(0.05, 30),
        "never": on_device(0.02, 0),
    }
