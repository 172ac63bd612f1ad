"""Whether an edited script behaves like its intervention: both are run, and their first losses compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from traindx.lab.conduct.experiment import Conducted, last_line
from traindx.vocabulary.run import Run

LOSS = "train/loss"
SEED = "seed=0"  # both runs get it, because an unseeded script differs from run to run
STEPS = 20
WITHIN = 1e-6  # relative: the rounding that remains where both make the same steps


class Conducting(Protocol):
    def __call__(
        self, command: Sequence[str], interventions: Sequence[str] = (), *, out: Path, **options: Any
    ) -> Conducted: ...


class Agreement(NamedTuple):
    """How far the first losses of two runs agree: `same` if all of them do. `steps` were compared, `apart`
    is their largest relative difference, `why` says what prevented the comparison (""), `broken` whether
    the edited script ended in an error that the unedited one did not have."""

    same: bool = False
    steps: int = 0
    apart: float = math.inf
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
    **options: Any,
) -> Agreement:
    """Run the command under its interventions, and its edited copy (`edited`: new texts by path in its
    folder) without them, both with the same seed, and compare the first losses. Records go below `out`."""
    options = {"steps": STEPS, **options}
    intervened = conduct(command, [SEED, *interventions], out=out / "intervened", **options)
    own = conduct(command, [SEED], out=out / "edited", edited=edited, **options)
    if not own.ok:
        why = f"the edited script {own.words()}: {last_line(own.tail)}"
        return Agreement(why=why, broken=intervened.ok)
    if not intervened.ok:
        return Agreement(why=f"under intervention, the script {intervened.words()}")
    return agreement(losses(read(intervened.out), options["steps"]), losses(read(own.out), options["steps"]))


def losses(run: Run, steps: int) -> np.ndarray:
    """The first training losses, one a step."""
    series = run.series.get(LOSS)
    return np.empty(0) if series is None else series.values[:steps]


def agreement(one: np.ndarray, other: np.ndarray, within: float = WITHIN) -> Agreement:
    """Whether two beginnings of a loss are equal to `within` (relative to the larger). Two NaNs are
    equal."""
    count = min(len(one), len(other))
    if not count:
        return Agreement(why="no loss was recorded")
    a, b = one[:count], other[:count]
    scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        apart = np.where(np.isclose(a, b, rtol=0, atol=0, equal_nan=True), 0.0, np.abs(a - b) / scale)
    worst = math.inf if np.isnan(apart).any() else float(apart.max())
    return Agreement(worst <= within, count, worst)
