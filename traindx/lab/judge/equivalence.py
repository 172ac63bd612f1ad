"""Whether an edited script behaves like the intervention that it was edited after: both are run and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from traindx.lab.conduct.experiment import Conducted, last_line
from traindx.vocabulary.run import Run

LOSS = "train/loss"
SEED = "seed=0"  # both runs get it: without a seed of its own a script is never like itself
STEPS = 20
WITHIN = 1e-6  # relative: what is left of rounding where both make the same steps


class Conducting(Protocol):
    def __call__(
        self, command: Sequence[str], interventions: Sequence[str] = (), *, out: Path, **options: Any
    ) -> Conducted: ...


class Alike(NamedTuple):
    """`same`: all first losses agree. `steps` were compared, `apart` is their largest relative difference,
    `why` says what kept them from being compared ("" where nothing did), `broken` whether the edited script
    itself ended in an error that the unedited one did not have."""

    same: bool
    steps: int
    apart: float
    why: str = ""
    broken: bool = False


def compare(
    command: Sequence[str],
    interventions: Sequence[str],
    edited: Mapping[str, str],
    out: Path,
    *,
    conduct: Conducting,
    read: Callable[[Path], Run],
    steps: int = STEPS,
    seconds: float | None = None,
    **options: Any,
) -> Alike:
    """Run the command under its interventions, and its edited copy (`edited`: new texts by path in the folder it
    runs in) without, both with the same seed, and compare the first losses. Records go below `out`."""
    intervened = conduct(
        command, [SEED, *interventions], out=out / "intervened", steps=steps, seconds=seconds, **options
    )
    own = conduct(
        command, [SEED], out=out / "edited", steps=steps, seconds=seconds, edited=edited, **options
    )
    if not own.ok:
        return Alike(
            False, 0, float("inf"), f"the edited script {own.words()}: {last_line(own.tail)}", intervened.ok
        )
    if not intervened.ok:
        return Alike(False, 0, float("inf"), f"under intervention, the script {intervened.words()}")
    return alike(losses(read(intervened.out), steps), losses(read(own.out), steps))


def losses(run: Run, steps: int) -> np.ndarray:
    """The first training losses, one a step."""
    series = run.series.get(LOSS)
    return np.empty(0) if series is None else series.values[:steps]


def alike(one: np.ndarray, other: np.ndarray, within: float = WITHIN) -> Alike:
    """Whether two beginnings of a loss are the same to `within` (relative to the larger); what is not a number in
    both agrees."""
    count = min(len(one), len(other))
    if not count:
        return Alike(False, 0, float("inf"), "no loss was recorded")
    a, b = one[:count], other[:count]
    scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        apart = np.where(np.isclose(a, b, rtol=0, atol=0, equal_nan=True), 0.0, np.abs(a - b) / scale)
    worst = float("inf") if np.isnan(apart).any() else float(apart.max())
    return Alike(worst <= within, count, worst)
