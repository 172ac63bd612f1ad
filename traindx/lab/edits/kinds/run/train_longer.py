"""`steps=*2`: twice as many rounds of the outermost loop of the training."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.epochs import epochs
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.origins import put, trace
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import schedules
from traindx.lab.edits.values import scaled_or_set


def edit(project: Project, value: str) -> None:
    given = scaled_or_set(value)
    source, loop = epochs(project)
    place = (source.path, source.line(loop))
    if given is None or given[0] != "*":
        raise NotCertain(f"steps={value}", "how many rounds these are is not certain", *place)
    if schedules(project):
        raise NotCertain(
            f"{given[1]:g} times the epochs, and the schedule's length with them",
            "there is a schedule",
            *place,
        )
    rounds = loop.iter
    if not (
        isinstance(rounds, cst.Call)
        and source.code(rounds.func).endswith("range")
        and len(rounds.args) in (1, 2)
    ):
        raise NotCertain(f"{given[1]:g} times the epochs", "the loop is no range", *place)
    found = trace(project, source, rounds.args[-1].value)
    planned = project.number("planned_epochs")
    if found is None or not found.linear or isinstance(found.value, (str, bool)):
        raise NotCertain(
            f"{given[1]:g} times the epochs", "where their number comes from is not certain", *place
        )
    if planned is not None and found.value != planned:
        return
    start = trace(project, source, rounds.args[0].value) if len(rounds.args) == 2 else None
    first = int(start.value) if start is not None else 0
    put(project, found.origin, round((found.origin.value - first) * given[1]) + first, "the epochs")


KIND = Kind(edit=edit, interventions=("steps",))
