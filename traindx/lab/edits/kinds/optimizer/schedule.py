"""Schedules: one that counts epochs but is stepped for each batch is stepped at the end of the epoch instead
(fix `repair-schedule`). With `lr=constant` none is stepped."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found
from traindx.lab.edits.training import backwards, schedules

PER_EPOCH = (
    "StepLR",
    "MultiStepLR",
    "ExponentialLR",
    "CosineAnnealingLR",
    "ReduceLROnPlateau",
    "CosineAnnealingWarmRestarts",
)


STARTING = (*PER_EPOCH, "PolynomialLR")  # start at the optimizer's own rate


def edit(project: Project, _value: str) -> None:
    made = [one for one in schedules(project) if one.kind in PER_EPOCH]
    moved = [move(project, step) for step in steps_of(project, made)]
    if not any(moved):
        write = "a schedule whose length fits the number of steps that it makes"
        raise project.doubt(write, "what is wrong with it is not seen here", made[0] if made else None)


def steps_of(project: Project, made: list[Found]) -> list[Found]:
    """The calls that step these schedules."""
    names = {one.target.rpartition(".")[2] for one in made}
    return [
        Found(source, call)
        for source in project.sources
        for call in source.methods("step")
        if isinstance(call.func, cst.Attribute) and source.code(call.func.value).rpartition(".")[2] in names
    ]


def constant(project: Project) -> None:
    """Do not step any schedule."""
    made = schedules(project)
    other = next((one for one in made if one.kind not in STARTING), None)
    if not made or other is not None:
        why = f"{other.kind} does not start at the optimizer's rate" if other else "no schedule was found"
        raise project.doubt("a constant learning rate", why, other)
    for step in steps_of(project, made):
        step.source.remove(step.statement(f"without {step.source.code(step.call)}", "the step"))
        project.say(step.source, step.line, f"removed: {step.source.code(step.call)}")


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
        raise step.doubt(f"{source.code(step.call)} once an epoch", "it is not a separate statement")
    body = loops[0].body
    direct = isinstance(body, cst.IndentedBlock) and source.parents[source.parents[step.small]] is body
    if not direct:
        raise step.doubt(f"{source.code(step.call)} once an epoch", "it is stepped on a condition")
    source.remove(step.small)
    source.insert_after(loops[0], source.code(step.call))
    project.say(source, step.line, f"{source.code(step.call)}: after the loop of batches")
    return True


KIND = Kind(edit=edit, fixes=("repair-schedule",))
