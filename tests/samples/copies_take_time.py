"""Samples of copies-take-time."""

from __future__ import annotations

from tests import traced
from traindx.vocabulary.run import Run

STEP = traced.step(0.1, data=0.05, forward=0.4, backward=0.4, optimizer=0.05)


def fires() -> dict[str, Run]:
    return {
        "float64 to float32 and back": traced.run(
            STEP, {"aten::copy_": (0.02, 40.0), "aten::mm": (0.05, 10.0)}
        ),
        "layouts": traced.run(STEP, {"aten::contiguous": (0.02, 9.0), "aten::clone": (0.02, 9.0)}),
        "moved to the accelerator": traced.run({**STEP, "time/transfer": 0.04}, device=True),
    }


def stays_quiet() -> dict[str, Run]:
    work = {"aten::copy_": (0.01, 40.0), "aten::mm": (0.07, 10.0)}
    return {
        "a tenth": traced.run(STEP, work),
        "none": traced.run(STEP),
        "on the accelerator hardly any": traced.run({**STEP, "time/transfer": 0.002}, device=True),
    }
