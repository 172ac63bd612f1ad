"""Pictures of a run's modules: what changes on the way from the input to the output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.features.per_module.table import ModuleTable
from traindx.reports import labels
from traindx.reports.figures.curves import (
    COLORS,
    GRAVE,
    INK,
    MILD,
    QUIET,
    blank,
    house_style,
    plain_text,
    write,
)
from traindx.vocabulary import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EARLY, LATE, BAND = "#e69f00", "#0072b2", "#a6c8e0"
HEALTHY = "#1a7f4b"
RANGE: dict[str, Any] = {"color": BAND, "alpha": 0.45, "linewidth": 0, "label": "5 % to 95 % of the rows"}
SHARES = ("silent", "saturated", "healthy below")
NAMED = 40  # modules with their names on the axis; of more, every so many
FILES = {"gradients": "gradient_flow.png", "activations": "activations.png"}


def save(table: ModuleTable, directory: Path, *, prefix: str = "") -> Path:
    """Write gradient_flow.png or activations.png; returns the path."""
    return write(figure(table), directory / (prefix + FILES[table.kind]))


def figure(table: ModuleTable) -> Figure:
    """The picture of a table: modules from the input on the left to the output on the right."""
    if table.kind == "gradients":
        return stack_signals(table, [("grad_norm", "gradient norm"), ("update_ratio", "update / weights")])
    return stack_signals(
        table,
        [("act_std", "spread of the output"), ("shares", "share of units"), ("act_rank", "effective rank")],
    )


def stack_signals(table: ModuleTable, wanted: Sequence[tuple[str, str]]) -> Figure:
    """One panel for each signal that is known, on one axis of modules."""
    wanted = [(s, t) for s, t in wanted if (shares_known(table) if s == "shares" else table.known(s))]
    drawing = blank(min(max(6.5, 2.2 + 0.42 * len(table.rows)), 16.0), 0.9 + 2.3 * max(len(wanted), 1))
    if not wanted:
        drawing.text(0.5, 0.5, "nothing finite was recorded", ha="center", color=QUIET)
        return drawing
    first = None
    for i, (signal, title) in enumerate(wanted):
        axes = drawing.add_subplot(len(wanted), 1, i + 1, sharex=first)
        first = first or axes
        style_axes(axes, title)
        if signal == "shares":
            draw_shares(axes, table)
        else:
            flow(axes, table, signal)
        mark_flags(axes, table, named=i == 0)
        axes.tick_params(labelbottom=i == len(wanted) - 1)
        if signal == "shares":
            axes.legend(
                fontsize=7, framealpha=0.8, edgecolor="none", labelcolor=INK, loc="upper left", ncols=3
            )
        if i == len(wanted) - 1:
            name_modules(axes, table)
    explain(drawing)
    name = "/".join(labels.name(table.run, 200).split("/")[-2:])
    drawing.suptitle(plain_text(f"{table.kind} of {name}"), x=0.012, ha="left", fontsize=11, color=INK)
    return drawing


def explain(drawing: Figure) -> None:
    """One legend for all panels over depth, below them."""
    keys = {
        label: key
        for axes in drawing.axes
        for key, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    flows = {label: key for label, key in keys.items() if label not in SHARES}
    drawing.legend(
        list(flows.values()),
        list(flows),
        fontsize=7,
        frameon=False,
        labelcolor=INK,
        loc="outside lower left",
        ncols=6,
    )


def flow(axes: Axes, table: ModuleTable, signal: str) -> None:
    """The signal over depth: median over the run, range, early and late."""
    x, parts = depths_and_courses(table, signal)
    limits = table.limits
    edges = np.array([limits.update_small, limits.update_large] if signal == "update_ratio" else [])
    flagged = any(row.flags for row in table.rows)
    floor = fit_height(axes, np.concatenate([*parts.values(), edges]), signal != "act_rank", flagged)
    axes.fill_between(x, np.maximum(parts["low"], floor), np.maximum(parts["high"], floor), **RANGE)
    axes.plot(x, clip_to_floor(parts["most"], floor), "^", color=BAND, markersize=4, label="largest")
    axes.plot(
        x,
        clip_to_floor(parts["median"], floor),
        color=INK,
        linewidth=1.6,
        marker="o",
        markersize=3,
        label="median",
    )
    for part, color, label in (("early", EARLY, "first tenth"), ("late", LATE, "last tenth")):
        style: dict[str, Any] = {"color": color, "linewidth": 1.1, "marker": "o", "markersize": 2}
        axes.plot(x, clip_to_floor(parts[part], floor), "--", label=label, **style)
    gone = x[parts["late"] == 0]
    if len(gone):
        across: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "label": "last tenth exactly 0"}
        axes.plot(gone, 0.03 + 0 * gone, "v", color=GRAVE, markersize=5, **across)
    if len(edges):
        axes.axhspan(edges[0], edges[1], color=HEALTHY, alpha=0.06, linewidth=0)
        for edge in edges:
            axes.axhline(edge, color=HEALTHY, linewidth=0.9, linestyle=(0, (6, 3)))


def fit_height(axes: Axes, values: Floats, log: bool, flagged: bool) -> float:
    """Set the range of the vertical axis to finite `values[n]` (on a log axis those above zero), with room
    for the words of flags. Returns its lower end."""
    shown = np.clip(values[values > 0] if log else values[np.isfinite(values)], None, 1e250)  # room above it
    if len(shown) == 0:
        return 0.0
    floor = float(shown.min()) / 1.6 if log else 0.0
    top, room = float(shown.max()) or 1.0, 0.22 if flagged else 0.05  # of the height
    axes.set_ylim(floor, top * (1.6 * top / floor) ** room if log else top * (1 + room))
    if log:
        logarithmic(axes)
    return floor


def logarithmic(axes: Axes) -> None:
    """A logarithmic axis with plain numbers, also between the powers of ten where it spans few of them."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 100 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: labels.number(float(f"{value:.3g}")))
    axes.yaxis.set_minor_formatter(lambda value, _: "")


def draw_shares(axes: Axes, table: ModuleTable) -> None:
    """Silent units and saturated pre-activations, as bars, with the limit of healthy."""
    silent = [(r.depth, r.silent) for r in table.rows if r.silent is not None]
    saturated = [
        (r.depth, r.courses["act_saturated_fraction"].settled)
        for r in table.rows
        if "act_saturated_fraction" in r.courses
    ]
    for found, color, label in (
        (silent, COLORS["validation"], SHARES[0]),
        (saturated, COLORS["rate"], SHARES[1]),
    ):
        if found:
            axes.bar([d for d, _ in found], [s for _, s in found], width=0.6, color=color, label=label)
    limit = table.limits.silent if silent else table.limits.saturated
    axes.axhline(limit, color=HEALTHY, linewidth=0.9, linestyle=(0, (6, 3)), label=SHARES[2])
    axes.set_ylim(0, 1.05)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def shares_known(table: ModuleTable) -> bool:
    return table.known("act_saturated_fraction") or any(row.silent is not None for row in table.rows)


def depths_and_courses(table: ModuleTable, signal: str) -> tuple[Floats, dict[str, Floats]]:
    """Depths of the modules that have the signal, and the parts of their courses."""
    rows = [row for row in table.rows if signal in row.courses]
    parts = {
        part: np.array([getattr(row.courses[signal], part) for row in rows])
        for part in ("early", "median", "late", "low", "high", "most")
    }
    return np.array([float(row.depth) for row in rows]), parts


def clip_to_floor(values: Floats, floor: float) -> Floats:
    """What the axis can show; zeros are left out of a logarithmic one."""
    return np.where(values >= floor, values, np.nan)


def mark_flags(axes: Axes, table: ModuleTable, *, named: bool) -> None:
    """A faint stripe behind each flagged module; in the uppermost panel with the flag's word."""
    for row in [row for row in table.rows if row.flags]:
        color = GRAVE if any(flag.grave for flag in row.flags) else MILD
        axes.axvspan(row.depth - 0.5, row.depth + 0.5, color=color, alpha=0.08, linewidth=0)
        if named and len(table.rows) <= NAMED:
            axes.annotate(
                plain_text(row.flags[0].word),
                (row.depth, 1.0),
                xycoords=axes.get_xaxis_transform(),
                xytext=(0, -3),
                textcoords="offset points",
                rotation=90,
                ha="center",
                va="top",
                fontsize=7,
                color=color,
            )


def name_modules(axes: Axes, table: ModuleTable) -> None:
    """Names under the axis, slanted; of many modules every so many."""
    every = max(1, -(-len(table.rows) // NAMED))
    ticks = [row for row in table.rows if row.depth % every == 0]
    axes.set_xticks([row.depth for row in ticks])
    names = [plain_text(row.module or "(the model)", 28) for row in ticks]
    level = max(map(len, names)) <= 6 and len(names) <= 20
    axes.set_xticklabels(names, rotation=0 if level else 40, ha="center" if level else "right", fontsize=8)
    axes.set_xlim(-0.6, len(table.rows) - 0.4)
    axes.set_xlabel("modules, from the input to the output", fontsize=9, color=QUIET)


def style_axes(axes: Axes, title: str) -> None:
    house_style(axes, grid="y")
    axes.set_title(title, loc="left", fontsize=9, color=INK)
