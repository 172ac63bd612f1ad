"""The picture of a proof: loss, metric, gradient norm and learning rate, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from traindx.reports.figures.curves import INK, PALETTE, QUIET, blank, house_style, plain_text, write
from traindx.vocabulary import Floats, Run
from traindx.vocabulary.trial import FixReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILE = "training_comparison.png"
POINTS = 200  # at which seeds are put together
BEFORE, AFTER = PALETTE[1], PALETTE[0]


def save(report: FixReport, before: Sequence[Run], after: Sequence[Run], directory: Path) -> Path:
    """Write training_comparison.png; returns the path."""
    return write(figure(report, before, after), directory / FILE)


def figure(report: FixReport, before: Sequence[Run], after: Sequence[Run]) -> Figure:
    """Four panels; the line is the median over the seeds, the band reaches from the lowest to the highest."""
    drawing = blank(11.0, 7.0)
    objective = report.objective.signal if report.objective is not None else "val/loss"
    names = ("train/loss", objective if objective != "train/loss" else "val/loss", "grad_norm", "lr")
    for place, name in enumerate(names):
        axes = drawing.add_subplot(2, 2, place + 1)
        style_axes(axes, name)
        for runs, color, label in ((before, BEFORE, "before"), (after, AFTER, "after")):
            band(axes, [r for r in runs if name in r.series], name, color, label)
        scale(axes)
        if not axes.get_lines():
            axes.set(xticks=[], yticks=[])
            axes.text(
                0.5, 0.5, "not recorded", ha="center", va="center", color=QUIET, transform=axes.transAxes
            )
        if place == 0:
            axes.legend(frameon=False, fontsize=8)
    drawing.suptitle(plain_text(report.reason, 100), x=0.012, ha="left", fontsize=11, color=INK)
    return drawing


def style_axes(axes: Axes, name: str) -> None:
    house_style(axes)
    axes.set_title(plain_text(name, 60), loc="left", fontsize=9, color=INK)
    axes.set_xlabel("step", color=QUIET, fontsize=8)


def band(axes: Axes, runs: Sequence[Run], name: str, color: str, label: str) -> None:
    """The curves of one arm's seeds."""
    if not runs:
        return
    last = max(float(r.series[name].steps[-1]) for r in runs)
    at = np.linspace(min(float(r.series[name].steps[0]) for r in runs), last, POINTS)
    rows = np.array([signal_at(r, name, at) for r in runs])
    with np.errstate(all="ignore"):
        shown = np.isfinite(rows).any(axis=0)
    if not shown.any():
        return
    kept = rows[:, shown]
    axes.plot(at[shown], np.nanmedian(kept, axis=0), color=color, linewidth=1.5, label=label)
    if len(runs) > 1:
        axes.fill_between(
            at[shown], np.nanmin(kept, axis=0), np.nanmax(kept, axis=0), color=color, alpha=0.18, lw=0
        )


def signal_at(run: Run, name: str, at: Floats) -> Floats:
    """The signal at `at[n]`, averaged over as many points as fall between two of them; NaN where it has ended or is
    not finite."""
    series = run.series[name]
    finite = np.isfinite(series.values)
    window = np.ones(max(1, len(finite) // POINTS))
    with np.errstate(
        invalid="ignore", divide="ignore"
    ):  # of as many points as there are: fewer at both ends
        values = np.convolve(np.where(finite, series.values, 0.0), window, "same") / np.convolve(
            finite, window, "same"
        )
    values = np.where(finite, values, np.nan)
    known = np.isfinite(values)
    if not known.any():
        return np.full(len(at), np.nan)
    there = series.steps[known]
    found = np.interp(at, there, values[known])
    return np.asarray(np.where((at > there[-1]) | (at < there[0]), np.nan, found))


def scale(axes: Axes) -> None:
    """A logarithmic axis where what is shown covers two decades of positive numbers."""
    values = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.get_lines()]
    if values:
        whole = np.concatenate(values)
        whole = whole[np.isfinite(whole)]
        if len(whole) and whole.min() > 0 and whole.max() / whole.min() > 99:
            axes.set_yscale("log")
