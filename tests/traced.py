"""Runs as a trace reports them, for samples of rules."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from tests import make
from traindx.vocabulary.run import Panel, Run

STEPS = 6


def run(
    parts: Mapping[str, float], operators: Mapping[str, tuple[float, float]] | None = None, *, device: bool = False,
    **more: float,
) -> Run:  # fmt: skip
    """`parts` by signal in seconds, the step in "time/step"; `operators` name -> (seconds, calls) of a step, on an
    accelerator of its kernels. Each step differs by a few percent. `more`: further signals, / written as __."""
    noise = 1 + 0.02 * make.rng(7).standard_normal(STEPS)
    signals = {name: value * noise for name, value in parts.items()}
    signals |= {name.replace("__", "/"): np.full(STEPS, value) for name, value in more.items()}
    if device:
        signals["util/device"] = 1 - signals["time/idle"] / signals["time/step"]
    made = make.run(signals)
    table = operators or {"aten::addmm": (0.4 * parts["time/step"], 20.0), "others": (0.0, 0.0)}
    kinds = ("operator", "kernel") if device else ("operator",)
    panels = {
        f"{kind}_{what}": Panel(
            np.arange(STEPS, dtype=float),
            tuple(table),
            np.tile([row[i] for row in table.values()], (STEPS, 1)),
        )
        for kind in kinds
        for i, what in enumerate(("time", "calls"))
    }
    return msgspec.structs.replace(made, format="torch-trace", panels=panels)


def step(
    seconds: float, *, data: float, forward: float, backward: float, optimizer: float
) -> dict[str, float]:
    """A step on the host by the shares of its parts; the rest is idle."""
    shares = {"data": data, "forward": forward, "backward": backward, "optimizer": optimizer}
    idle = seconds * (1 - sum(shares.values()))
    parts = {f"time/{name}": seconds * share for name, share in shares.items()}
    return {"time/step": seconds, **parts, "time/idle": idle, "time/idle_longest": idle / 4}
