"""The fix `reduce-on-plateau` adds the schedule after each validation; `lr=plateau` cannot be tried as an
intervention."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.epochs import epochs, validation_loss
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.optimizer.warm_up import home
from traindx.lab.edits.project import Project
from traindx.lab.edits.training import optimizers, schedules

NAME = "plateau"


def edit(project: Project, _value: str) -> None:
    made, planned = optimizers(project), schedules(project)
    if any(one.kind == "ReduceLROnPlateau" for one in planned):
        return
    source, loop = epochs(project)
    if len(made) != 1 or planned or not made[0].target:
        raise source.doubt(
            loop, "ReduceLROnPlateau(optimizer)", "there is a schedule, or not exactly one optimizer"
        )
    one = made[0]
    if (
        one.source is not source
        or source.function(one.call) is not source.function(loop)
        or "." in one.target
    ):
        raise source.doubt(loop, "ReduceLROnPlateau(optimizer)", "the optimizer is made elsewhere")
    name, assigned = validation_loss(source, loop)
    source.insert_after(
        one.small, f"{NAME} = {home(one)}.lr_scheduler.ReduceLROnPlateau({one.target}, factor=0.5)"
    )
    line = source.parents[assigned]
    within = source.parents[source.parents[line]]
    after: cst.CSTNode = within if isinstance(within, cst.With) else assigned
    source.insert_after(after, f"{NAME}.step({name})")
    project.say(source, source.line(assigned), f"the rate is halved when {name} no longer falls")


KIND = Kind(edit=edit, fixes=("reduce-on-plateau",))
