"""Every module of a recorded run as one row: gradients, weights and updates, or activations.

Rows of a panel are not evenly spaced (dense where something happened and at the end), so medians over the
run are taken over equal stretches of steps first."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from traindx.features.curves.progress import is_learning
from traindx.features.per_module.flags import Course, Limits, ModuleRow, activation_flags, gradient_flags
from traindx.features.per_module.panels import column_minima, first_break, module_panel, rows_after_start
from traindx.features.shared import Features
from traindx.vocabulary import Floats, Panel, Run

Kind = Literal["gradients", "activations"]
SIGNALS: Mapping[Kind, tuple[str, ...]] = {
    "gradients": (
        "grad_norm", "grad_zero_fraction", "grad_nonfinite", "weight_norm", "weight_absmax", "update_ratio",
        "update_zero_fraction",
    ),
    "activations": (
        "act_zero_fraction", "act_saturated_fraction", "act_mean", "act_std", "act_absmax", "act_rank",
        "act_nonfinite",
    ),
}  # fmt: skip
STRETCHES = 64  # of the run's steps; the median of each counts once
EDGE = 0.1  # of the run's steps: what is called early and late


class ModuleTable(msgspec.Struct, frozen=True, kw_only=True):
    """All modules of one run. `sampled` is the number of rows of the panel with most; `learning` what the
    objective says about the run (None where that is unknown)."""

    kind: Kind
    run: str
    source: str
    axis: str
    sampled: int
    first_step: float
    last_step: float
    learning: bool | None
    limits: Limits
    rows: tuple[ModuleRow, ...]

    def known(self, signal: str) -> bool:
        return any(signal in row.courses for row in self.rows)


def table(run: Run, kind: Kind, limits: Limits) -> ModuleTable | None:
    """The modules of a run with flags against `limits`; None when the run has no such signals by module."""
    features = Features(run)
    panels = {name: panel for name in SIGNALS[kind] if (panel := module_panel(features, name)) is not None}
    if not panels:
        return None
    rows = rows_without_flags(panels if kind == "gradients" else finite_rows(panels, features), panels, kind)
    flagged = gradient_flags(rows, run, limits) if kind == "gradients" else activation_flags(rows, limits)
    rows = [msgspec.structs.replace(row, flags=flags) for row, flags in zip(rows, flagged, strict=True)]
    return ModuleTable(
        kind=kind,
        run=run.id,
        source=run.source,
        axis=run.axis,
        sampled=max(len(panel.steps) for panel in panels.values()),
        first_step=min(float(panel.steps[0]) for panel in panels.values()),
        last_step=max(float(panel.steps[-1]) for panel in panels.values()),
        learning=is_learning(features),
        limits=limits,
        rows=tuple(rows),
    )


def rows_without_flags(
    panels: Mapping[str, Panel], whole: Mapping[str, Panel], kind: Kind
) -> list[ModuleRow]:
    """The rows without flags. `whole` are the panels with what came after values that were not finite."""
    found = {name: courses(panel) for name, panel in panels.items()}
    broken = nonfinite_rows(whole, "grad_nonfinite" if kind == "gradients" else "act_nonfinite", kind)
    silent: dict[str, float] = {}
    zeros = panels.get("act_zero_fraction")
    if zeros is not None and len(zeros.steps):
        shares = column_minima(zeros.values[len(zeros.values) // 2 :])
        silent = {m: float(s) for m, s in zip(zeros.modules, shares, strict=True) if np.isfinite(s)}
    order = merge_orders([panel.modules for panel in whole.values()])
    return [
        ModuleRow(
            module=module,
            depth=depth,
            courses={name: by_module[module] for name, by_module in found.items() if module in by_module},
            nonfinite=broken[module][0] if module in broken else None,
            broke=broken[module][1] if module in broken else None,
            ends_nonfinite=module in broken and broken[module][2],
            silent=silent.get(module),
        )
        for depth, module in enumerate(order)
    ]


def merge_orders(orders: Sequence[Sequence[str]]) -> list[str]:
    """All modules once, in an order that keeps that of each of `orders` where they agree: a module that only
    a later one has comes after the one that precedes it there."""
    longest = max(orders, key=len)
    result = list(longest)
    known = set(result)
    for order in orders:
        if known.issuperset(order):
            continue
        place = {module: i for i, module in enumerate(result)}
        after: dict[int, list[str]] = {}
        at = -1
        for module in order:
            if module in place:
                at = place[module]
            elif module not in known:
                after.setdefault(at, []).append(module)
                known.add(module)
        result = [*after.get(-1, []), *(m for i, old in enumerate(result) for m in (old, *after.get(i, [])))]
    return result


def finite_rows(panels: Mapping[str, Panel], features: Features) -> dict[str, Panel]:
    """The rows before the first activation or objective that is not finite: units of a net of NaN are
    neither silent nor active."""
    kept = {name: panel.steps < first_break(features) for name, panel in panels.items()}
    return {n: Panel(p.steps[kept[n]], p.modules, p.values[kept[n]]) for n, p in panels.items()}


def courses(panel: Panel) -> dict[str, Course]:
    """The course of each module that has any finite value."""
    steps, values = panel.steps, np.where(np.isfinite(panel.values), panel.values, np.nan)
    if not len(steps):
        return {}
    first, span = float(steps[0]), float(steps[-1] - steps[0])
    peak = np.argmax(np.where(np.isnan(values), -np.inf, values), axis=0)
    columns = {
        "first": edge(values),
        "early": medians(values[steps <= first + EDGE * span]),
        "median": median_of_stretches(steps, values),
        "settled": settled_values(panel.steps, values),
        "ending": medians(values[len(values) // 2 :]),
        "late": medians(values[steps >= first + (1 - EDGE) * span]),
        "last": edge(values[::-1]),
        "low": quantiles(values, 0.05),
        "high": quantiles(values, 0.95),
        "least": quantiles(values, 0.0),
        "most": quantiles(values, 1.0),
        "most_step": steps[peak],
    }
    counts = np.sum(~np.isnan(values), axis=0)
    return {
        module: Course(values=int(counts[i]), **{name: float(column[i]) for name, column in columns.items()})
        for i, module in enumerate(panel.modules)
        if counts[i]
    }


def settled_values(steps: Floats, values: Floats) -> Floats:
    """Median after the first tenth of the steps; of all where nothing was measured after it. Shape `[m]`."""
    rest = rows_after_start(Panel(steps, tuple("x" * values.shape[1]), values), EDGE)
    later = median_of_stretches(rest.steps, rest.values)
    return np.where(np.isnan(later), median_of_stretches(steps, values), later)


def median_of_stretches(steps: Floats, values: Floats) -> Floats:
    """Median over the medians of up to 64 equal stretches of steps, of `values[n, m]`. Shape `[m]`."""
    span = float(steps[-1] - steps[0])
    place = (
        np.minimum((steps - steps[0]) / span * STRETCHES, STRETCHES - 1).astype(int) if span else steps * 0
    )
    return medians(np.array([medians(values[place == p]) for p in np.unique(place)]))


def medians(values: Floats) -> Floats:
    return quantiles(values, 0.5)


def quantiles(values: Floats, share: float) -> Floats:
    """The quantile of each column of `values[n, m]`, NaN left out, with linear interpolation; NaN where a
    column holds nothing else. Shape `[m]`."""
    ordered = np.sort(values, axis=0)  # NaN at the end
    counts = np.sum(~np.isnan(values), axis=0)
    if not len(values):
        return np.full(values.shape[1], np.nan)
    at = share * np.maximum(counts - 1, 0)
    below, columns = np.floor(at).astype(int), np.arange(values.shape[1])
    low, high = ordered[below, columns], ordered[np.minimum(below + 1, np.maximum(counts - 1, 0)), columns]
    part = at - below
    with np.errstate(over="ignore"):
        return np.asarray(np.where(part > 0, low * (1 - part) + high * part, low))


def edge(values: Floats) -> Floats:
    """The first value of each column of `values[n, m]` that is not NaN. Shape `[m]`."""
    return np.asarray(values[np.argmax(~np.isnan(values), axis=0), np.arange(values.shape[1])])


def nonfinite_rows(
    panels: Mapping[str, Panel], counted: str, kind: Kind
) -> dict[str, tuple[float, float | None, bool]]:
    """Module -> (share of sampled rows that were not finite, the first such step, whether the last row is
    one). From the panel `counted`; infinite gradient norms count without it (a NaN may only mean "not
    measured")."""
    panel = panels.get(counted)
    if panel is not None:
        bad, known = np.nan_to_num(panel.values) > 0, ~np.isnan(panel.values)
    elif kind == "gradients" and "grad_norm" in panels and np.isinf(panels["grad_norm"].values).any():
        panel = panels["grad_norm"]
        bad, known = np.isinf(panel.values), ~np.isnan(panel.values)
    else:
        return {}
    found: dict[str, tuple[float, float | None, bool]] = {}
    for i, module in enumerate(panel.modules):
        rows, seen = np.flatnonzero(bad[:, i]), np.flatnonzero(known[:, i])
        if len(seen):
            first = float(panel.steps[rows[0]]) if len(rows) else None
            found[module] = (len(rows) / len(seen), first, bool(len(rows) and rows[-1] == seen[-1]))
    return found
