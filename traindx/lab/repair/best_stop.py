"""The step at which a run should have stopped: where its validation was best."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from traindx.lab.judge.objectives import gain, level, objective_of
from traindx.lab.judge.significance import least_gain
from traindx.vocabulary import Fix, Floats, Run
from traindx.vocabulary.trial import Objective

ANY = "stop=val"  # of the catalogue: at the best validation, wherever that is
LEAST, AROUND = 6, 3  # evaluations of a run, and those whose median counts, so that a lucky one does not
LATEST = 0.8  # share of the run: a best validation after that is no reason to stop earlier


class Stop(NamedTuple):
    """Where to stop, in steps of the optimizer, and what is better there than at the end."""

    step: int
    objective: Objective

    @property
    def spec(self) -> str:
        """As an intervention. The step after the best one still runs, so that the script validates before it."""
        return f"stop={self.step + 1}"


def best_stop(run: Run, objective: Objective, min_effect: float, asked: bool = False) -> Stop | None:
    """Where a run was best by its objective, or else by its validation loss, if it ends clearly worse. None where
    it does not. `asked`: whether the user named the objective, so that nothing else counts."""
    wanted = [objective]
    if not asked:
        wanted.append(objective_of(run, "val/loss", "lower", "the loss on held-out data"))
    for one in wanted:
        series = run.series.get(one.signal)
        if series is None or not one.signal.startswith("val"):
            continue
        finite = np.isfinite(series.values)
        if finite.sum() < LEAST:
            continue
        sign = 1.0 if one.direction == "higher" else -1.0
        steps, values = series.steps[finite], sign * series.values[finite]
        smooth = medians(values)
        near = max(int(np.argmax(smooth)) - AROUND // 2, 0)
        step = int(steps[near + int(np.argmax(values[near : near + AROUND]))])
        better = gain(level(run, one), sign * float(smooth.max()), one)
        if step <= LATEST * series.steps[-1] and better >= least_gain(min_effect):
            return Stop(step, one)
    return None


def medians(values: Floats) -> Floats:
    """The median of each value and its neighbours."""
    padded = np.pad(values, AROUND // 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, AROUND), axis=1)


def place_stop(fixes: Sequence[Fix], stop: Stop | None) -> tuple[Fix, ...]:
    """The fixes, with the step at which this run is to be stopped."""
    if stop is None:
        return tuple(fixes)
    return tuple(replace(f, interventions=(stop.spec,)) if ANY in f.interventions else f for f in fixes)
