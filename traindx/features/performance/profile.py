"""A traced run as a profile: averages over the middle half of its steps, so that a single slow one does not
count."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.vocabulary.profile import Operator, Part, Profile
from traindx.vocabulary.run import Floats, Ints, Run

PARTS = ("data", "forward", "backward", "optimizer", "compute", "compile", "synchronize")
WORDS = {"synchronize": "waiting for the accelerator", "compute": "computing", "compile": "compiling"}
REST = "between operators"
OPERATORS = 10
LUMP = "others"


def profile_of(run: Run) -> Profile | None:
    """Where a step's time goes; None for a run that was not traced. Errors: none."""
    if "operator_time" not in run.panels or "time/step" not in run.series:
        return None
    typical = middle(run.series["time/step"].values)
    whole = mean(run, "time/step", typical)
    seconds = {
        WORDS.get(part, part): mean(run, f"time/{part}", typical)
        for part in PARTS
        if f"time/{part}" in run.series
    }
    seconds[REST] = max(whole - sum(seconds.values()), 0.0)
    return Profile(
        steps=len(run.series["time/step"]),
        step_seconds=whole,
        idle=mean(run, "time/idle", typical),
        accelerator="util/device" in run.series,
        parts=tuple(Part(name, spent, share_of(spent, whole)) for name, spent in seconds.items()),
        operators=tuple(operators(run, whole, typical)),
        gaps=tuple(e.message for e in run.events if e.code == "idle"),
    )


def middle(seconds: Floats) -> Ints:
    """The rows of the middle half of steps by their length; all of fewer than four."""
    n = len(seconds)
    order = np.argsort(seconds, kind="stable")
    return np.sort(order[n // 4 : n - n // 4] if n >= 4 else order)


def mean(run: Run, name: str, rows: Ints) -> float:
    """The average over some steps; 0 where there is none."""
    found = run.series.get(name)
    if found is None or len(found) <= rows.max(initial=-1) or not len(rows):
        return 0.0
    average = float(found.values[rows].mean())
    return average if np.isfinite(average) else 0.0


def share_of(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 0 else 0.0


def operators(run: Run, whole: float, rows: Ints) -> Iterator[Operator]:
    """What takes most, kernels first where there are any."""
    kinds = (("kernel", "accelerator"), ("operator", "host"))
    for kind, on in kinds:
        time, calls = run.panels.get(f"{kind}_time"), run.panels.get(f"{kind}_calls")
        if time is None or calls is None or len(time.values) <= rows.max(initial=-1) or not len(rows):
            continue
        averages = (panel.values[rows].mean(axis=0).tolist() for panel in (time, calls))
        for name, spent, count in list(zip(time.modules, *averages, strict=True))[:OPERATORS]:
            if name != LUMP and spent > 0:
                yield Operator(name, on, spent, share_of(spent, whole), count)  # type: ignore[arg-type]
