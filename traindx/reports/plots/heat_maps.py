"""Per-module signals over the steps, as pictures of colours: what is drawn, not how."""

from itertools import pairwise

import msgspec
import numpy as np

from traindx.features.statistics import quantile
from traindx.reports import labels
from traindx.vocabulary import Floats, Panel, Run

DRAWN = {"grad_norm": "Gradient norm by module", "update_ratio": "Update / weight by module"}
COLUMNS = 160  # at most, each the median of its steps
ROWS = 48  # modules at most; of more, an even choice


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """`levels[m, k]` in powers of ten (NaN: not measured, -inf: exactly zero) of `modules[m]`, input first, in `k`
    stretches of steps that begin at `starts[k]`; colours run from `low` to `high`. `left` counts modules not drawn."""

    title: str
    modules: tuple[str, ...]
    starts: Floats
    levels: Floats
    low: float
    high: float
    left: int = 0


def heat_maps(run: Run) -> tuple[Heat, ...]:
    """The pictures of a recorded run; none of one that was not looked into."""
    made = [heat(title, run.panels[name]) for name, title in DRAWN.items() if name in run.panels]
    return tuple(found for found in made if found is not None)


def heat(title: str, panel: Panel) -> Heat | None:
    """One panel, or None where nothing positive was measured in more than one module and step."""
    if len(panel.steps) < 2 or len(panel.modules) < 2:
        return None
    rows = np.unique(
        np.linspace(0, len(panel.modules) - 1, min(ROWS, len(panel.modules))).round().astype(np.int64)
    )
    edges = np.linspace(0, len(panel.steps), min(COLUMNS, len(panel.steps)) + 1).round().astype(np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(panel.values[:, rows])
    levels = np.array([middle_values(logs[a:b]) for a, b in pairwise(edges)]).T
    finite = levels[np.isfinite(levels)]
    if not len(finite):
        return None
    low, high = (float(q) for q in quantile(finite, (0.02, 0.98)))
    return Heat(
        title=title,
        modules=tuple(panel.modules[i] for i in rows),
        starts=panel.steps[edges[:-1]],
        levels=levels,
        low=low,
        high=max(high, low + 1.0),  # less than a factor of ten is no difference to be painted red
        left=len(panel.modules) - len(rows),
    )


def middle_values(stretch: Floats) -> Floats:
    """The middle of each module's values in a stretch `[n, m]`; NaN where there are none."""
    ordered = np.sort(stretch, axis=0)  # what is NaN comes last
    known = (~np.isnan(stretch)).sum(axis=0)
    return np.asarray(ordered[np.maximum(known - 1, 0) // 2, np.arange(stretch.shape[1])])


def heat_data(drawn: Heat) -> dict[str, object]:
    """What the page's script needs: levels in hundredths of a power of ten, null for NaN, "0" for exactly zero."""

    def cell(level: float) -> int | str | None:
        if np.isnan(level):
            return None
        return "0" if level == -np.inf else round(100 * min(level, 300.0))

    return {
        "title": drawn.title,
        "modules": [labels.name(m, 60) for m in drawn.modules],
        "starts": drawn.starts.tolist(),
        "levels": [[cell(level) for level in row] for row in drawn.levels.tolist()],
        "low": round(100 * drawn.low),
        "high": round(100 * drawn.high),
    }
