"""`lr=constant` has no edit of its own; a schedule that is counted in epochs, but stepped for each batch, is stepped
at the end of the epoch (fix `repair-schedule`)."""

from __future__ import annotations

import libcst as cst

from traindx.edits.kind import Kind
from traindx.edits.project import NotCertain, Project
from traindx.edits.training import Found, backwards, schedules

PER_EPOCH = (
    "StepLR",
    "MultiStepLR",
    "ExponentialLR",
    "CosineAnnealingLR",
    "ReduceLROnPlateau",
    "CosineAnnealingWarmRestarts",
)


def edit(project: Project, _value: str) -> None:
    made = [one for one in schedules(project) if one.kind in PER_EPOCH]
    names = {one.target.rpartition(".")[2] for one in made}
    moved = False
    for source in project.sources:
        for call in source.methods("step"):
            name = source.code(call.func.value) if isinstance(call.func, cst.Attribute) else ""
            if name.rpartition(".")[2] in names:
                moved |= move(project, Found(source, call))
    if not moved:
        first = made[0] if made else None
        raise NotCertain(
            "a schedule whose length fits the number of steps that it makes", "what is wrong with it is not seen here",
            first.source.path if first else project.script, first.line if first else 0,
        )  # fmt: skip


def move(project: Project, step: Found) -> bool:
    """Take a step out of the loop of batches to the end of the epoch, if it is in there."""
    source = step.source
    loops = source.loops(step.call)
    with_batches = [
        loop
        for loop in loops[:1]
        if any(b.source is source and source.inside(b.call, loop) for b in backwards(project))
    ]
    if not with_batches or len(loops) < 2:
        return False
    if not source.alone(step.small) or not isinstance(step.small, cst.Expr) or step.call.args:
        raise NotCertain(
            f"{source.code(step.call)} once an epoch", "it is no statement of its own", source.path, step.line
        )
    body = loops[0].body
    direct = isinstance(body, cst.IndentedBlock) and source.parents[source.parents[step.small]] is body
    if not direct:
        raise NotCertain(
            f"{source.code(step.call)} once an epoch", "it is stepped on a condition", source.path, step.line
        )
    source.remove(step.small)
    source.insert_after(loops[0], source.code(step.call))
    project.say(source, step.line, f"{source.code(step.call)}: behind the loop of batches")
    return True


KIND = Kind(edit=edit, fixes=("repair-schedule",))
