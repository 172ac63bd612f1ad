"""`zero_grad=each-step`: gradients that a step has used are cleared right behind it.

There it is right with and without accumulation. A clearing between the backward pass and the step, which takes the
gradients before they are used, is moved instead.
"""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import Found, backwards, optimizer_of, steps


def edit(project: Project, _value: str) -> None:
    found = steps(project)
    if not found:
        raise NotCertain(
            "clear the gradients after each step", "no optimizer.step() was found", project.script
        )
    for step in found:
        source = step.source
        if not isinstance(step.small, cst.Expr):
            why = "the step is part of a larger statement"
            raise NotCertain(f"{optimizer_of(step)}.zero_grad()", why, source.path, step.line)
        clearing = cleared(project, step)
        line = f"{optimizer_of(step)}.zero_grad()"
        for one in clearing:
            if between(project, one, step):
                source.remove(one.small)
                project.say(
                    source, one.line, "moved behind the step: it cleared the gradients before they were used"
                )
                line = source.code(one.call)
            else:
                return
        source.insert_after(behind_update(step), line)
        project.say(source, step.line, f"after the step: {line}")


def behind_update(step: Found) -> cst.BaseSmallStatement:
    """The statement behind which the gradients may go: the step, or the scaler's update beside it."""
    return step.small


def cleared(project: Project, step: Found) -> list[Found]:
    """The clearings in the loop of a step."""
    source = step.source
    loops = source.loops(step.call)
    return [
        Found(source, call)
        for call in source.methods("zero_grad")
        if source.function(call) is source.function(step.call)
        and (not loops or source.inside(call, loops[0]))
        and (step.small is not source.small(call))
    ]


def between(project: Project, clearing: Found, step: Found) -> bool:
    """Whether a clearing stands between a backward pass and the step, in one block."""
    source = step.source
    block = source.parents[source.parents[step.small]]
    same = source.parents[source.parents[clearing.small]] is block
    before = [b.line for b in backwards(project) if b.source is source and source.inside(b.call, block)]
    return same and any(line < clearing.line < step.line for line in before)


KIND = Kind(edit=edit, interventions=("zero_grad",))
