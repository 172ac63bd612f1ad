"""The missing step after the backward pass (fix `step-the-optimizer`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import Project
from traindx.lab.edits.training import optimizers, steps, the_backward


def edit(project: Project, _value: str) -> None:
    if steps(project):
        return
    back, made = the_backward(project), optimizers(project)
    source = back.source
    clearing = [c for c in source.methods("zero_grad") if source.function(c) is source.function(back.call)]
    names = {source.code(c.func.value) for c in clearing if isinstance(c.func, cst.Attribute)}
    name = (
        names.pop()
        if len(names) == 1
        else made[0].target
        if len(made) == 1 and made[0].source is source
        else ""
    )
    if len(made) != 1 or not name or name.rpartition(".")[2] != made[0].target.rpartition(".")[2]:
        raise back.doubt(
            "optimizer.step() after the backward pass", "cannot tell what the optimizer is called here"
        )
    source.insert_after(back.statement(f"{name}.step()", "the backward pass"), f"{name}.step()")
    project.say(source, back.line, f"after the backward pass: {name}.step()")


KIND = Kind(edit=edit, fixes=("step-the-optimizer",))
