"""Pictures of a run as matplotlib figures. matplotlib is imported when the first one is drawn; pyplot,
its global state and its backends are never used."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from traindx.reports import labels
from traindx.reports.digest import grouped_findings
from traindx.reports.plots.curves import Chart, Line, run_charts
from traindx.vocabulary import Run, RunDiagnosis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: distinguishable with any kind of colour blindness, and in grey by order.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#555555")
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
COLORS = {
    "raw": "#a6c8e0",
    "smooth": "#0072b2",
    "validation": "#d55e00",
    "rate": "#009e73",
    "plain": "#0072b2",
}
GRAVE, MILD = "#b00020", "#9a6700"
HEALTH = {"healthy": "#1a7f4b", "watch": "#9a6700", "sick": "#c2410c", "failed": "#b00020"}
INK, QUIET, GRID = "#1b1f24", "#5b6470", "#e6e9ed"
SMALL = ("train_val", "lr_loss", "gradient_norm")
DPI = 150


def overview(run: Run, diagnosis: RunDiagnosis | None = None) -> Figure:
    """One picture of a run: the objective with its findings marked, and small panels with validation,
    learning rate and gradient norm where they were recorded."""
    charts = charts_of(run, diagnosis)
    rest = [c for c in charts if c.slug in SMALL] or [c for c in charts[1:] if c.slug.startswith("metric")]
    rest = rest[: len(SMALL)]
    figure = blank(10.0, 6.2 if rest else 4.2)
    if not charts:
        figure.text(0.5, 0.5, "nothing finite was recorded", ha="center", color=QUIET)
        return figure
    grid = figure.add_gridspec(2 if rest else 1, max(len(rest), 1), height_ratios=[1.7, 1] if rest else [1])
    draw(figure.add_subplot(grid[0, :]), charts[0], named=True)
    for column, chart in enumerate(rest):
        draw(figure.add_subplot(grid[1, column]), chart, small=True)
    if diagnosis is not None:
        headline(figure, diagnosis)
    return figure


def save(run: Run, diagnosis: RunDiagnosis | None, directory: Path, *, prefix: str = "") -> list[Path]:
    """Write overview.png, loss.png, train_val.png, lr_loss.png, gradient_norm.png, as far as the run has
    the signals; `prefix` precedes the names. Returns what was written, most informative first."""
    charts = {c.slug: c for c in charts_of(run, diagnosis)}
    figures = {"overview": overview(run, diagnosis)} if charts else {}
    for slug in ("loss", "train_val", "gradient_norm"):
        if slug in charts:
            figures[slug] = single_chart(charts[slug])
    phase = lr_against_loss(charts["lr_loss"]) if "lr_loss" in charts else None
    if phase is not None:
        figures["lr_loss"] = phase
    return [write(figure, directory / f"{prefix}{name}.png") for name, figure in figures.items()]


def charts_of(run: Run, diagnosis: RunDiagnosis | None) -> tuple[Chart, ...]:
    return run_charts(run, grouped_findings(diagnosis.findings)[0] if diagnosis is not None else ())


def single_chart(chart: Chart) -> Figure:
    """One chart as a separate figure."""
    figure = blank(9.0, 4.2)
    draw(figure.add_subplot(), chart, named=True)
    return figure


def lr_against_loss(chart: Chart) -> Figure | None:
    """The path of a run in the plane of learning rate and loss, coloured by step; None when the rate
    does not change."""
    loss, rate = chart.lines[0], chart.lines[1]
    known = np.isfinite(rate.y)
    if known.sum() < 2:
        return None
    at = np.interp(loss.x, rate.x[known], rate.y[known])
    fine = np.isfinite(loss.y)
    at, y, x = at[fine], loss.y[fine], loss.x[fine]
    if len(at) < 2 or np.ptp(at) <= 1e-9 * np.abs(at).max():
        return None
    figure = blank(7.0, 4.6)
    axes = figure.add_subplot()
    style(axes, chart)
    axes.plot(at, y, color=GRID, linewidth=1, zorder=1)
    dots = axes.scatter(at, y, c=x, s=9, cmap="viridis", zorder=2)
    if at.min() > 0 and at.max() / at.min() > 30:
        axes.set_xscale("log")
    bar = figure.colorbar(dots, ax=axes, pad=0.02)
    bar.set_label(plain_text(chart.x_label), color=QUIET, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=QUIET)
    bar.outline.set_visible(False)
    axes.set_xlabel("learning rate", color=QUIET, fontsize=9)
    axes.set_ylabel(plain_text(loss.label), color=QUIET, fontsize=9)
    return figure


def blank(width: float, height: float) -> Figure:
    """An empty figure of `width` x `height` inches on an Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def write(figure: Figure, path: Path) -> Path:
    """Save as PNG, whole or not at all; returns the path."""
    partial = path.with_name(path.name + ".part")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="Glyph .* missing"
            )  # a name in a script the font lacks
            figure.savefig(partial, format="png", metadata={"Software": "traindx"})
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def draw(axes: Axes, chart: Chart, *, small: bool = False, named: bool = False) -> None:
    """Draw a chart into axes: lines, the gap, findings' onsets, places that are not finite."""
    from matplotlib.ticker import MaxNLocator

    style(axes, chart)
    if chart.gap is not None:
        axes.fill_between(
            chart.gap.x,
            chart.gap.lower,
            chart.gap.upper,
            color=COLORS["validation"],
            alpha=0.15,
            linewidth=0,
        )
    other = axes.twinx() if any(line.right for line in chart.lines) else None
    for line in chart.lines:
        draw_line(other if other is not None and line.right else axes, line)
    if other is not None:
        other.set_ylabel(plain_text(chart.right_label), fontsize=8, color=COLORS["rate"])
        other.tick_params(labelsize=8, colors=COLORS["rate"], length=0)
        other.spines[:].set_visible(False)
        other.yaxis.set_major_formatter(lambda value, _: labels.number(float(f"{value:.6g}")))
    draw_marks(axes, chart, named=named)
    axes.xaxis.set_major_locator(MaxNLocator(4 if small else 8, steps=[1, 2, 5, 10]))
    axes.set_title(plain_text(chart.title), loc="left", fontsize=9 if small else 11, color=INK)
    if not small:
        axes.set_xlabel(plain_text(chart.x_label), fontsize=9, color=QUIET)
        axes.set_ylabel(plain_text(chart.y_label), fontsize=9, color=QUIET)
    several = sum(not line.right for line in chart.lines) > 1 or chart.lines[0].role == "plain"
    if several and not (small and chart.slug == "gradient_norm"):
        axes.legend(fontsize=8, frameon=False, labelcolor=INK, loc="best")


def draw_line(axes: Axes, line: Line) -> None:
    plainly, order = line.role == "plain", line.order
    finite = int(np.isfinite(line.y).sum())
    axes.plot(
        line.x,
        line.y,
        color=PALETTE[order % len(PALETTE)] if plainly else COLORS[line.role],
        linestyle=DASHES[order // len(PALETTE) % len(DASHES)]
        if plainly
        else ("--" if line.role == "rate" else "-"),
        linewidth=0.8 if line.role == "raw" else 1.6,
        marker="o" if finite <= 30 else "",
        markersize=3,
        label=plain_text(line.label),
    )


def house_style(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    """The house style: no box, a light grid behind, quiet ticks."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.grid(True, axis=grid, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", labelsize=8, colors=QUIET, length=0)


def style(axes: Axes, chart: Chart) -> None:
    """The house style, and limits without lone extremes."""
    house_style(axes)
    low, high = chart.limits
    if chart.log and chart.positive:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.3, high * 1.5)
        axes.yaxis.set_major_formatter(lambda value, _: labels.number(float(f"{value:.6g}")))
        axes.yaxis.set_minor_formatter(lambda value, _: "")
    else:
        margin = 0.06 * (high - low)
        axes.set_ylim(low - margin, high + margin)
    axes.xaxis.set_major_formatter(lambda value, _: labels.step(round(value, 6)))


def draw_marks(axes: Axes, chart: Chart, *, named: bool) -> None:
    """A dashed line with the finding's number at each onset (with its name, if `named`), and a row of
    crosses where values are not finite."""
    across = axes.get_xaxis_transform()  # x in data, y as a share of the axes
    last = max((float(line.x[-1]) for line in chart.lines if len(line.x)), default=0.0)
    first = min((float(line.x[0]) for line in chart.lines if len(line.x)), default=0.0)
    above: list[float] = []  # places of the labels so far: neighbours go below each other
    for mark in chart.marks:
        color = GRAVE if mark.severity in ("critical", "high") else MILD
        axes.axvline(mark.step, color=color, linewidth=1, linestyle=(0, (4, 3)), zorder=1.5)
        late = mark.step > first + 0.6 * (last - first)
        row = len(above) if named else sum(abs(mark.step - other) < 0.08 * (last - first) for other in above)
        above.append(mark.step)
        axes.annotate(
            plain_text(f"{mark.number} {mark.slug}" if named else str(mark.number)),
            (mark.step, 0.97 - (0.085 if named else 0.13) * row),
            xycoords=across,
            xytext=(-5 if late else 5, 0),
            textcoords="offset points",
            ha="right" if late else "left",
            va="top",
            fontsize=9 if named else 8,
            fontweight="bold",
            color=color,
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.8},
        )
    if len(chart.nonfinite):
        where = (
            np.linspace(chart.nonfinite[0], chart.nonfinite[-1], 40)
            if len(chart.nonfinite) > 40
            else chart.nonfinite
        )
        nearest = chart.nonfinite[np.searchsorted(chart.nonfinite, where).clip(0, len(chart.nonfinite) - 1)]
        axes.plot(
            nearest,
            np.full(len(nearest), 0.02),
            "x",
            color=GRAVE,
            markersize=4,
            transform=across,
            label="not finite",
        )


def headline(figure: Figure, diagnosis: RunDiagnosis) -> None:
    """Health, run and the decision's reason over the figure."""
    name = "/".join(labels.name(diagnosis.run.id, 400).split("/")[-2:])
    words, reason = (
        f"{labels.HEALTH_WORDS[diagnosis.health]}   {name}",
        labels.sentence(diagnosis.decision.reason),
    )
    figure.suptitle(
        plain_text(words), x=0.012, ha="left", fontsize=13, fontweight="bold", color=HEALTH[diagnosis.health]
    )
    figure.supxlabel(plain_text(reason, 150), x=0.012, ha="left", fontsize=9, color=QUIET)


def plain_text(text: object, limit: int = 80) -> str:
    """Foreign text without matplotlib's mathematics (dollars) and hidden labels (a leading _)."""
    shown = labels.clean(text, limit).replace("$", r"\$")
    return " " + shown if shown.startswith("_") else shown
