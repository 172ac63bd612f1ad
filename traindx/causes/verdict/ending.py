"""The error in a log that ended the run."""

import numpy as np

from traindx.features.shared import Features
from traindx.vocabulary import Event, Run, threshold

ENDED_BADLY = {
    "crash": "the run ended with an error",
    "out-of-memory": "the device ran out of memory",
}


def ended_badly(
    run: Run,
    features: Features,
    *,
    survived: bool = False,
    more: float = threshold(
        5, "points", basis="convention", source="other processes still print a few lines"
    ),
) -> Event | None:
    """The first error with no further start and hardly any point after it. An out-of-memory error counts
    unless the run `survived` it."""
    last = max((i for i, e in enumerate(run.events) if e.kind == "resume"), default=-1)
    kinds = set(ENDED_BADLY) - ({"out-of-memory"} if survived else set())
    steps = np.empty(0) if features.objective is None else features.objective.raw.steps
    found = (e for e in run.events[last + 1 :] if e.kind in kinds)
    return next((e for e in found if e.step is None or np.count_nonzero(steps > e.step) <= more), None)


def shortened(
    message: str,
    *,
    most: float = threshold(100, "characters", basis="convention", source="one line of a report"),
) -> str:
    """The beginning of a message, in whole words."""
    if len(message) <= most:
        return message.rstrip(".")
    return f"{message[: int(most)].rsplit(' ', 1)[0]} …"
