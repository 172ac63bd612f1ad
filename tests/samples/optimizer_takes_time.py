"""Samples of optimizer-takes-time."""

from __future__ import annotations

from tests import traced
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a loop over a thousand tensors": traced.run(
            traced.step(0.1, data=0.02, forward=0.1, backward=0.15, optimizer=0.65)
        ),
        "as much as both passes": traced.run(
            traced.step(0.1, data=0.02, forward=0.2, backward=0.25, optimizer=0.45)
        ),
        "a toy": traced.run(traced.step(0.001, data=0.1, forward=0.1, backward=0.1, optimizer=0.4)),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a fifth": traced.run(traced.step(0.1, data=0.02, forward=0.3, backward=0.4, optimizer=0.17)),
        "little of anything": traced.run(
            traced.step(0.1, data=0.8, forward=0.05, backward=0.05, optimizer=0.02)
        ),
    }
