"""Which experiments the checks need, how long each may take, and which are dropped for lack of time
(pure)."""

from collections.abc import Sequence
from typing import NamedTuple

from traindx.checks.catalogue import AGAIN, BLANK, FIRST, ONE_BATCH, PERMUTED
from traindx.vocabulary import Check

FIRST_STEPS, AGAIN_STEPS, BATCH_STEPS = 300, 100, 300
FIRST_SHARE = 0.4  # of the time, for the first start
PROBES = ("accelerator", "structure", "leak", "growth", "modes", "memory", "latency")
LEAST_SECONDS = 8.0  # below which a start is not worth trying: importing torch takes half of it


class Planned(NamedTuple):
    """One start of the script. `probes`: the live model is probed when it ends."""

    name: str
    interventions: tuple[str, ...] = ()
    steps: int = FIRST_STEPS
    probes: bool = False


def plan_starts(checks: Sequence[Check]) -> tuple[Planned, ...]:
    """The starts that the checks need, in their order; the first is always needed."""
    sources = {check.source for check in checks}
    every = (
        (Planned(FIRST), True),
        (Planned(AGAIN, (), AGAIN_STEPS, True), bool(sources & {AGAIN, *PROBES})),
        (
            Planned(ONE_BATCH, ("data=repeat-batch",), BATCH_STEPS),
            bool(sources & {ONE_BATCH, BLANK, PERMUTED}),
        ),
        (Planned(BLANK, ("data=repeat-batch", "inputs=blank"), BATCH_STEPS), BLANK in sources),
        (Planned(PERMUTED, ("labels=permute",), FIRST_STEPS), PERMUTED in sources),
    )
    return tuple(experiment for experiment, wanted in every if wanted)


def limit(experiment: Planned, waiting: int, left: float, budget: float, first: float | None) -> float:
    """Seconds that a start may take: `waiting` starts (this one included) share the `left` seconds of the
    `budget`; `first` is the duration of the first one. 0 where it is not worth starting."""
    if experiment.name == FIRST:
        return FIRST_SHARE * budget
    fair = left / max(waiting, 1)
    most = max(fair, min(left, 2 * (first or 0.0) + LEAST_SECONDS))
    return most if most >= LEAST_SECONDS else 0.0


def steps_for(experiment: Planned, first_steps: int, whole: bool) -> int:
    """Steps of a start: no more than the script made by itself in the first one (`whole`: it finished, or
    used up its time)."""
    return min(experiment.steps, first_steps) if whole and first_steps else experiment.steps
