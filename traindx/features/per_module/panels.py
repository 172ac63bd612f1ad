"""Per-module signals: typical values of each module over time, without the first steps.

Rows are steps, columns modules in the order in which the model holds them. Modules that were not
measured are NaN throughout; so are their results here, without warnings.
"""

import numpy as np

from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Bools, CannotJudge, EvidencePoint, Floats, Panel, frozen_array


def panel(features: Features, name: str, *, rows: int = 1) -> Panel:
    """The panel `name`. Raises CannotJudge when it was not recorded per module, or has fewer than
    `rows` rows."""
    found = module_panel(features, name)
    if found is None:
        raise CannotJudge(f"needs {name} of every module, which was not recorded")
    if len(found.steps) < rows:
        raise CannotJudge(f"needs {rows} rows of {name} of every module, there are {len(found.steps)}")
    return found


def module_panel(features: Features, name: str) -> Panel | None:
    """The panel `name` as it was recorded, or made of the signals `name/<module>` of a log, in the log's order; None
    where neither has a row."""
    run = features.run
    found = run.panels.get(name)
    if found is not None and found.modules and len(found.steps):
        return found
    below = [n for n in (*run.originals, *run.series) if n.startswith(f"{name}/")]
    logged = {
        n.removeprefix(f"{name}/"): run.series[n] for n in below if n in run.series and len(run.series[n])
    }
    if not logged:
        return None
    steps = np.unique(np.concatenate([curve.steps for curve in logged.values()]))
    values = np.full((len(steps), len(logged)), np.nan)
    for place, curve in enumerate(logged.values()):
        values[np.searchsorted(steps, curve.steps), place] = curve.values
    return Panel(frozen_array(steps), tuple(logged), frozen_array(values))


def first_break(features: Features) -> float:
    """The step of the first activation or objective that is not finite; infinity where there is none."""
    ends = [float("inf")]
    bad = features.run.panels.get("act_nonfinite")
    if bad is not None:
        ends += [float(step) for step in bad.steps[np.any(np.nan_to_num(bad.values) > 0, axis=1)][:1]]
    if features.objective is not None:
        ends += [float(step) for step in features.objective.nonfinite_steps[:1]]
    return min(ends)


def before_break(features: Features, found: Panel) -> Panel:
    """The rows before the first activation or loss that is not finite: the state of a net of NaN shows
    nothing. Raises CannotJudge when there is none."""
    keep = found.steps < first_break(features)
    if not keep.any():
        raise CannotJudge("nothing was measured before values were not finite")
    return Panel(found.steps[keep], found.modules, found.values[keep])


def rows_after_start(found: Panel, share: float) -> Panel:
    """The rows after the first `share` of the steps; the last row at least."""
    first, last = float(found.steps[0]), float(found.steps[-1])
    keep = found.steps >= min(first + share * (last - first), last)
    return Panel(found.steps[keep], found.modules, found.values[keep])


def typical(values: Floats) -> Floats:
    """Median over the rows of `values[n, m]`, passing over what is not finite; NaN where nothing is
    left. Shape `[m]`."""
    result = np.full(values.shape[1], np.nan)
    for place, column in enumerate(values.T):
        known = column[np.isfinite(column)]
        if len(known):
            result[place] = median(known)
    return result


def column_minima(values: Floats) -> Floats:
    """Smallest finite value of each column of `values[n, m]`; NaN where there is none. Shape `[m]`."""
    known = np.where(np.isfinite(values), values, np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isinf(known), np.nan, known)


def first_known(values: Floats, rows: int) -> Floats:
    """First finite value of each column within the first `rows` of `values[n, m]`; NaN where there
    is none. Shape `[m]`."""
    head = values[:rows]
    finite = np.isfinite(head)
    at = np.argmax(finite, axis=0) if len(head) else np.zeros(values.shape[1], dtype=np.int64)
    found = head[at, np.arange(values.shape[1])] if len(head) else np.full(values.shape[1], np.nan)
    return np.where(finite.any(axis=0) if len(head) else False, found, np.nan)


def evidence_at_end(
    name: str, found: Panel, place: int, value: float, expected: float, unit: str = ""
) -> EvidencePoint:
    """One module's value of the panel `name` and what it is compared with, at the last step."""
    return EvidencePoint(
        f"{name}/{found.modules[place]}", float(found.steps[-1]), float(value), float(expected), unit
    )


def name_marked_modules(found: Panel, chosen: Bools, *, most: int = 3) -> str:
    """The modules that `chosen[m]` marks, for a sentence: a few by name, the rest by number."""
    names = [m for m, c in zip(found.modules, chosen, strict=True) if c]
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
