"""Samples of operators-are-tiny."""

from __future__ import annotations

from tests import traced
from traindx.vocabulary.run import Run

STEP = traced.step(0.02, data=0.02, forward=0.35, backward=0.2, optimizer=0.13)  # idle: 0.3 of it


def fires() -> dict[str, Run]:
    loops = {"aten::mul": (0.004, 1500.0), "aten::add": (0.003, 1000.0), "aten::mm": (0.002, 10.0)}
    toy = traced.step(0.002, data=0.02, forward=0.35, backward=0.2, optimizer=0.13)
    return {
        "a recurrence step by step": traced.run(STEP, loops),
        "kernels of microseconds": traced.run(STEP, {"elementwise": (0.008, 3000.0)}, device=True),
        "a toy": traced.run(toy, {"aten::as_strided": (0.0007, 300.0), "aten::addmm": (0.0003, 6.0)}),
    }


def stays_quiet() -> dict[str, Run]:
    work = {"aten::mm": (0.011, 60.0), "aten::as_strided": (0.0009, 400.0)}
    busy = traced.step(0.02, data=0.02, forward=0.4, backward=0.4, optimizer=0.1)
    return {
        "many views next to real work": traced.run(busy, work),
        "few calls": traced.run(STEP, {"aten::mul": (0.0001, 40.0)}),
        "each call is long": traced.run(STEP, {"aten::mul": (0.013, 600.0)}),
    }
