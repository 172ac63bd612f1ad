"""Samples of step-idles."""

from __future__ import annotations

from tests import traced
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    host = traced.step(0.1, data=0.02, forward=0.12, backward=0.2, optimizer=0.04)
    device = {**traced.step(0.05, data=0.05, forward=0.4, backward=0.4, optimizer=0.1), "time/idle": 0.03}
    small = traced.step(0.001, data=0.05, forward=0.2, backward=0.2, optimizer=0.1)
    return {
        "metrics in Python after each step": traced.run(host),
        "an accelerator that waits for the host": traced.run(device, device=True),
        "a toy between whose operators Python takes its time": traced.run(small),
    }


def stays_quiet() -> dict[str, Run]:
    waits = {**traced.step(0.05, data=0.6, forward=0.1, backward=0.1, optimizer=0.1), "time/idle": 0.032}
    return {
        "a fifth": traced.run(traced.step(0.1, data=0.05, forward=0.3, backward=0.4, optimizer=0.05)),
        "idle while data is loaded": traced.run(waits, device=True),
        "loading on the host": traced.run(
            traced.step(0.1, data=0.7, forward=0.1, backward=0.1, optimizer=0.05)
        ),
    }
