"""Build runs for tests from plain arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from traindx.vocabulary.run import Event, Panel, Run, series
from traindx.vocabulary.setup import Setup


def run(
    signals: Mapping[str, object],
    *,
    steps: object | None = None,
    events: tuple[Event, ...] = (),
    setup: Setup = Setup(),
    panels: Mapping[str, Panel] | None = None,
    name: str = "made",
) -> Run:
    """A run whose signals are arrays `[n]` on steps 0, 1, 2 ... (or `steps`), or (steps, values)."""
    built = {}
    for key, values in signals.items():
        if isinstance(values, tuple):
            built[key] = series(*values)
        else:
            array = np.asarray(values, dtype=np.float64)
            built[key] = series(
                np.arange(len(array)) if steps is None else np.asarray(steps)[: len(array)], array
            )
    return Run(
        id=name,
        source=name,
        format="made",
        series=built,
        originals={k: k for k in built},
        panels=panels or {},
        events=events,
        setup=setup,
    )


def surveyed(**facts: str | float | int | bool) -> Run:
    """A data set as a run: it has facts and no steps."""
    return Run(
        id="data", source="data", format="csv", axis="sample", setup=Setup().with_facts(facts, "survey")
    )


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def healthy_loss(
    n: int = 400, *, start: float = 2.3, floor: float = 0.3, noise: float = 0.03, seed: int = 0
) -> np.ndarray:
    """A power-law fall from `start` towards `floor` with proportional noise; shape `[n]`."""
    t = np.arange(n) / n
    clean = floor + (start - floor) * (1 + 30 * t) ** -0.9
    return clean * (1 + noise * rng(seed).standard_normal(n))
