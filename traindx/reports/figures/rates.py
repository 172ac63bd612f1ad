"""The picture of a search for a learning rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from traindx.reports import labels
from traindx.reports.documents import rates
from traindx.reports.figures.curves import (
    COLORS,
    GRAVE,
    INK,
    PALETTE,
    QUIET,
    blank,
    house_style,
    plain_text,
    write,
)
from traindx.vocabulary.rates import RateSearch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILE = "learning_rate.png"
FOUND = "#1a7f4b"


def save(search: RateSearch, directory: Path) -> Path:
    """Write learning_rate.png; returns the path."""
    return write(figure(search), directory / FILE)


def figure(search: RateSearch) -> Figure:
    """The sweeps over the rate, with what was read off; below it the rates that were tried."""
    drawing = blank(8.0, 6.6 if search.tried else 4.4)
    first = drawing.add_subplot(2 if search.tried else 1, 1, 1)
    sweeps(first, search)
    marks(first, search)
    if search.tried:
        draw_tried(drawing.add_subplot(2, 1, 2, sharex=first), search)
    drawing.suptitle(plain_text(rates.title(search), 100), x=0.012, ha="left", fontsize=11, color=INK)
    return drawing


def style_axes(axes: Axes, name: str) -> None:
    axes.set_xscale("log")
    house_style(axes)
    axes.set_xlabel("learning rate", color=QUIET, fontsize=9)
    axes.set_ylabel(name, color=QUIET, fontsize=9)


def sweeps(axes: Axes, search: RateSearch) -> None:
    """Losses as dots, smoothed as lines; what is far above the start is left out."""
    style_axes(axes, "loss during the sweep")
    top = 0.0
    for i, one in enumerate(search.sweeps):
        color = PALETTE[i % len(PALETTE)]
        axes.plot(one.rates, one.losses, ".", color=color, alpha=0.3, markersize=3)
        axes.plot(one.rates, one.smoothed, color=color, linewidth=1.6, label=f"seed {one.seed}")
        top = max(top, max(one.smoothed, default=0.0))
    shown = np.concatenate([np.array(one.losses) for one in search.sweeps])
    if not len(shown):
        return
    low, high = float(shown.min()), max(top, float(np.quantile(shown, 0.75)))
    margin = 0.06 * (high - low) or 1.0
    axes.set_ylim(low - margin, high + 2 * margin)


def marks(axes: Axes, search: RateSearch) -> None:
    if search.suggested is not None and search.low is not None and search.high is not None:
        axes.axvspan(search.low, search.high, color=FOUND, alpha=0.12, linewidth=0)
        words = f"suggested {labels.number(search.suggested)}"
        axes.axvline(search.suggested, color=FOUND, linewidth=1.4, label=words)
    if search.safe is not None:
        words = f"largest safe {labels.number(search.safe)}"
        axes.axvline(search.safe, color=GRAVE, linewidth=1.2, linestyle=(0, (4, 3)), label=words)
    if search.reason:
        axes.set_title(
            plain_text(f"no suggestion: {search.reason}", 120), loc="left", fontsize=8, color=GRAVE
        )
    axes.legend(fontsize=8, frameon=False, labelcolor=INK, loc="best")


def draw_tried(axes: Axes, search: RateSearch) -> None:
    """Final losses at constant rates; a cross at the top where it diverged."""
    style_axes(axes, "final loss at a constant rate")
    rows = rates.rows_of(search)
    fine = [(rate, loss) for rate, loss in rows if np.isfinite(loss)]
    axes.plot([r for r, _ in fine], [v for _, v in fine], "o-", color=COLORS["plain"], markersize=4)
    lost = [rate for rate, loss in rows if not np.isfinite(loss)]
    across = axes.get_xaxis_transform()
    if lost:
        axes.plot(
            lost, [0.97] * len(lost), "x", color=GRAVE, markersize=6, transform=across, label="diverged"
        )
        axes.legend(fontsize=8, frameon=False, labelcolor=INK, loc="best")
    if search.good is not None:
        axes.axvspan(*search.good, color=FOUND, alpha=0.12, linewidth=0)
