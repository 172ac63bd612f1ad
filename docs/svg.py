"""Small curve pictures as SVG text: no plotting library, so that every machine draws the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

import numpy as np

from traindx.vocabulary.run import Floats

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP, BOTTOM = 660, 190, 62, 14, 22, 30, 34
MAX_POINTS = 320  # of one line; more are reduced to the lowest and highest of each stretch

STYLE = """<style>
text{font:11px system-ui,sans-serif;fill:#475569}.grid{stroke:#cbd5e1;stroke-width:.6}
.line{fill:none;stroke-width:1.4}.c0{stroke:#2563eb;fill:#2563eb}.c1{stroke:#d97706;fill:#d97706}.c2{stroke:#059669;fill:#059669}
path.line{fill:none}text.name{stroke:none;font-weight:600}.mark{stroke:#dc2626;stroke-width:1.2;stroke-dasharray:4 3}
.span{fill:#dc2626;opacity:.08}.lost{stroke:#dc2626;stroke-width:1.6;fill:none}
@media(prefers-color-scheme:dark){text{fill:#cbd5e1}.grid{stroke:#475569}.c0{stroke:#60a5fa;fill:#60a5fa}
.c1{stroke:#fbbf24;fill:#fbbf24}.c2{stroke:#34d399;fill:#34d399}.mark,.lost{stroke:#f87171}.span{fill:#f87171;opacity:.14}}
</style>"""


class Line(NamedTuple):
    """One curve: `steps[n]`, `values[n]` (may hold NaN and infinities)."""

    name: str
    steps: Floats
    values: Floats


class Scale(NamedTuple):
    """Maps `low..high` to pixels `start..stop`, linearly or by logarithm."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, x = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (x - low) / (high - low) * (self.stop - self.start)


def picture(
    panels: Sequence[Sequence[Line]], span: tuple[float, float] | None, alt: str, axis: str = "step"
) -> str:
    """The panels one above the other on a shared step axis; `span` marks where something was seen."""
    height = TOP + len(panels) * PANEL + (len(panels) - 1) * GAP + BOTTOM
    steps = np.concatenate([line.steps for lines in panels for line in lines])
    across = Scale(float(steps.min()), float(steps.max()), LEFT, WIDTH - RIGHT)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
        f"<title>{escape(alt)}</title>",
        STYLE,
    ]
    for i, lines in enumerate(panels):
        parts += panel(lines, across, TOP + i * (PANEL + GAP), span)
    bottom = height - BOTTOM
    parts += [text(across.at(v), bottom + 15, number(v, across), "middle") for v in ticks(across)]
    return "\n".join([*parts, text((LEFT + WIDTH - RIGHT) / 2, bottom + 29, axis, "middle"), "</svg>", ""])


def panel(lines: Sequence[Line], across: Scale, top: float, span: tuple[float, float] | None) -> list[str]:
    down = vertical(lines, top)
    parts = []
    if span is not None:
        a, b = across.at(max(span[0], across.low)), across.at(min(span[1], across.high))
        parts += [
            f'<rect class="span" x="{a:.1f}" y="{top}" width="{b - a:.1f}" height="{PANEL}"/>',
            f'<path class="mark" d="M{a:.1f} {top}v{PANEL}"/>',
        ]
    for value in ticks(down):
        y = down.at(value)
        parts += [
            f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>',
            text(LEFT - 6, y + 4, number(value, down), "end"),
        ]
    for i, line in enumerate(lines):
        parts += drawn(line, across, down, top, i)
    return [*parts, legend(lines, top - 5)]


def legend(lines: Sequence[Line], y: float) -> str:
    """The names of the curves in their colours, above the panel's left end."""
    x, names = float(LEFT), []
    for i, line in enumerate(lines):
        names.append(f'<text class="name c{i}" x="{x:.0f}" y="{y}">{escape(line.name)}</text>')
        x += 7 * len(line.name) + 16
    return "".join(names)


def vertical(lines: Sequence[Line], top: float) -> Scale:
    """The value axis: logarithmic where the values are positive and span more than a factor of 50."""
    values = np.concatenate([line.values[np.isfinite(line.values)] for line in lines])
    low, high = float(values.min()), float(values.max())
    if low > 0 and high / low > 50:
        return Scale(low / 1.3, high * 1.3, top + PANEL, top, log=True)
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return Scale(low - margin, high + margin, top + PANEL, top)


def drawn(line: Line, across: Scale, down: Scale, top: float, color: int) -> list[str]:
    """The curve, broken where values are not finite; a cross at the top where they begin to be."""
    finite = np.isfinite(line.values)
    pieces = []
    for whole, group in groupby(range(len(finite)), key=lambda i: bool(finite[i])):
        rows = np.array(list(group))
        if whole:
            points = [
                f"{across.at(x):.1f} {down.at(y):.1f}"
                for x, y in reduced(line.steps[rows], line.values[rows])
            ]
            pieces.append("M" + "L".join(points if len(points) > 1 else points * 2))
    parts = [f'<path class="line c{color}" d="{"".join(pieces)}"/>'] if pieces else []
    if not finite.all():
        x, y = across.at(float(line.steps[int(np.argmin(finite))])), top + 8
        parts.append(f'<path class="lost" d="M{x - 4:.1f} {y - 4}l8 8m0 -8l-8 8"/>')
        parts.append(text(x - 8, y + 4, "not finite", "end"))
    return parts


def reduced(steps: Floats, values: Floats) -> list[tuple[float, float]]:
    """At most about MAX_POINTS points that keep every peak and dip."""
    if len(steps) <= MAX_POINTS:
        return [(float(x), float(y)) for x, y in zip(steps, values, strict=True)]
    kept: list[int] = []
    for rows in np.array_split(np.arange(len(steps)), MAX_POINTS // 2):
        kept += sorted({int(rows[np.argmin(values[rows])]), int(rows[np.argmax(values[rows])])})
    return [(float(steps[i]), float(values[i])) for i in kept]


def ticks(scale: Scale) -> list[float]:
    """Three to six round values within the scale."""
    if scale.log:
        powers = range(math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high)) + 1)
        every = max(1, math.ceil(len(powers) / 6))
        if len(powers) >= 2:
            return [10.0**p for p in powers][::every]
    span = scale.high - scale.low
    unit = 10.0 ** math.floor(math.log10(span / 3))
    unit *= max(m for m in (1, 2, 5) if span / (unit * m) >= 3)
    first = math.ceil(scale.low / unit)
    return [i * unit for i in range(first, math.floor(scale.high / unit) + 1) if not scale.log or i > 0]


def number(value: float, scale: Scale) -> str:
    """A tick's value; what rounding leaves of zero is zero."""
    return f"{value:.4g}" if abs(value) > 1e-9 * (scale.high - scale.low) or scale.log else "0"


def text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
