"""Stops when the validation loss has not improved for a while (fix `stop-early`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.epochs import epochs, validation_loss
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import Project

BEST, WAITED, PATIENCE = "best_validation", "epochs_without_gain", 5


def edit(project: Project, _value: str) -> None:
    source, loop = epochs(project)
    if any(name.value == BEST for name in source.all(cst.Name)):
        return
    name, assigned = validation_loss(source, loop)
    if not isinstance(loop.body, cst.IndentedBlock):
        raise source.doubt(loop, "early stopping", "the loop is one line")
    last = loop.body.body[-1]
    lines = (
        f"if {name} < {BEST}:\n    {BEST}, {WAITED} = {name}, 0\nelse:\n    {WAITED} += 1\n",
        f"if {WAITED} >= {PATIENCE}:\n    break\n",
    )
    source.insert_before(loop, f'{BEST}, {WAITED} = float("inf"), 0')
    source.insert_after(last.body[0] if isinstance(last, cst.SimpleStatementLine) else last, *lines)
    project.say(source, source.line(assigned), f"stops when {name} has not fallen for {PATIENCE} epochs")


KIND = Kind(edit=edit, interventions=("stop",), fixes=("stop-early",))
