"""A traced run as a profile: averages over its steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.vocabulary.profile import Operator, Part, Profile
from traindx.vocabulary.run import Run

PARTS = ("data", "forward", "backward", "optimizer", "synchronize")
WORDS = {"synchronize": "waiting for the accelerator"}
REST = "between operators"
OPERATORS, GAPS = 10, 3
LUMP = "others"


def profile_of(run: Run) -> Profile | None:
    """Where a step's time goes; None for a run that was not traced. Errors: none."""
    if "operator_time" not in run.panels or "time/step" not in run.series:
        return None
    whole = mean(run, "time/step")
    seconds = {WORDS.get(part, part): mean(run, f"time/{part}") for part in PARTS if f"time/{part}" in run.series}
    seconds[REST] = max(whole - sum(seconds.values()), 0.0)
    return Profile(
        steps=len(run.series["time/step"]),
        step_seconds=whole,
        idle=mean(run, "time/idle"),
        accelerator="util/device" in run.series,
        parts=tuple(Part(name, spent, share_of(spent, whole)) for name, spent in seconds.items()),
        operators=tuple(operators(run, whole)),
        gaps=tuple(e.message for e in run.events if e.code == "idle")[:GAPS],
    )


def mean(run: Run, name: str) -> float:
    """The average over the steps; 0 where there is none."""
    found = run.series.get(name)
    finite = found.values[np.isfinite(found.values)] if found is not None else np.empty(0)
    return float(finite.mean()) if len(finite) else 0.0


def share_of(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 0 else 0.0


def operators(run: Run, whole: float) -> Iterator[Operator]:
    """What takes most, kernels first where there are any."""
    kinds = (("kernel", "accelerator"), ("operator", "host"))
    for kind, on in kinds:
        time, calls = run.panels.get(f"{kind}_time"), run.panels.get(f"{kind}_calls")
        if time is None or calls is None:
            continue
        for name, spent, count in list(
            zip(time.modules, time.values.mean(axis=0).tolist(), calls.values.mean(axis=0).tolist(), strict=True)
        )[:OPERATORS]:
            if name != LUMP and spent > 0:
                yield Operator(name, on, spent, share_of(spent, whole), count)  # type: ignore[arg-type]
