"""How many runs were alarmed by the time that a share of them was written: those that were fine, and those that were
sick. An alarm stays counted, so the last point is the error over all looks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.streams.replay import HIGH, MEDIUM, STOP, Replayed
from benchmarks.streams.table import runs_of

SHARES = np.linspace(0, 1, 201)
COLORS = {STOP: "#b2182b", HIGH: "#ef8a62", MEDIUM: "#2166ac"}


def draw(found: Iterable[Replayed], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, layout="constrained")
    for axis, kind in zip(axes, ("fine", "sick"), strict=True):
        runs = runs_of(found, kind)
        for tool, color in COLORS.items():
            firsts = np.array([one.first.get(tool, np.inf) for one in runs])
            alarmed = [100 * np.mean(firsts <= share) for share in SHARES]
            axis.plot(SHARES, alarmed, label=tool, color=color)
        axis.set(xlabel="share of the run that is written", title=f"{len(runs)} {kind} runs")
    axes[0].set_ylabel("runs alarmed so far (%)")
    axes[0].axhline(1, color="gray", ls=":", label="1 %")
    axes[0].legend()
    figure.savefig(path, dpi=110)
