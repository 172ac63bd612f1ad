"""Schedules: one that is counted in epochs, but stepped for each batch, is stepped at the end of the epoch (fix
`repair-schedule`); under `lr=constant` none is stepped."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import Found, backwards, schedules

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
        first = made[0] if made else None
        raise NotCertain(
            "a schedule whose length fits the number of steps that it makes", "what is wrong with it is not seen here",
            first.source.path if first else project.script, first.line if first else 0,
        )  # fmt: skip


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
    """No schedule is stepped."""
    made = schedules(project)
    other = next((one for one in made if one.kind not in STARTING), None)
    if not made or other is not None:
        why = f"{other.kind} does not start at the optimizer's rate" if other else "no schedule was found"
        path, line = (other.source.path, other.line) if other else (project.script, 0)
        raise NotCertain("a constant learning rate", why, path, line)
    for step in steps_of(project, made):
        if not isinstance(step.small, cst.Expr):
            why = "the step is part of a larger statement"
            raise NotCertain(f"without {step.source.code(step.call)}", why, step.source.path, step.line)
        step.source.remove(step.small)
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
        raise NotCertain(
            f"{source.code(step.call)} once an epoch",
            "it is no statement of its own",
            source.path,
            step.line,
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
