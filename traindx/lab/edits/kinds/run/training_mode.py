"""`mode=train`: the model is in training mode when gradients are computed.

`model.train()` goes right before the innermost loop around the backward pass, or inside that loop where
the mode changes in it. A `model.eval()` of the training itself becomes `model.train()`."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, dotted
from traindx.lab.edits.training import model_at, the_backward


def edit(project: Project, _value: str) -> None:
    back = the_backward(project)
    source = back.source
    model = model_at(project, back)
    if not model:
        raise back.doubt(
            "model.train() before the training loop", "cannot tell what the model is called here"
        )
    loops = source.loops(back.call)
    if not loops:
        raise back.doubt(f"{model}.train() before the forward pass", "there is no loop")
    line = f"{model}.train()"
    if changes_mode(project, source, loops[0], back):
        first = loops[0].body.body[0]
        if source.code(first) == line:
            return
        source.insert_before(inner(first), line)
        project.say(source, source.line(first), f"first in the loop: {line}")
        return
    switched = in_front(source, loops[0], model)
    if switched and source.code(switched[-1].call) == line:
        return
    for call in (one for one in switched[-1:] if source.code(one.call) == f"{model}.eval()"):
        source.replace(call.call, line)
        project.say(source, call.line, f"{model}.eval() becomes {line}")
        return
    source.insert_before(loops[0], line)
    project.say(source, source.line(loops[0]), f"before the loop: {line}")


def inner(statement: cst.CSTNode) -> cst.CSTNode:
    """The node that insertions refer to: the simple statement on a line, or the compound statement
    itself."""
    return statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement


def in_front(source: Source, loop: cst.CSTNode, model: str) -> list[Found]:
    """The changes of the model's mode before a loop, in the same block."""
    block = source.parents[loop]
    found = []
    for statement in getattr(block, "body", ()):
        if statement is loop:
            break
        if isinstance(statement, cst.SimpleStatementLine):
            found += [
                Found(source, call)
                for call in source.methods("train", "eval")
                if source.inside(call, statement) and isinstance(call.func, cst.Attribute)
                and dotted(call.func.value) == model
            ]  # fmt: skip
    return found


def changes_mode(project: Project, source: Source, loop: cst.CSTNode, back: Found) -> bool:
    """Whether something in a loop could change the mode: an eval() in it, or in a function that it calls."""
    switching = {
        function.name.value
        for other in project.sources
        for call in other.methods("eval")
        if (function := other.function(call)) is not None
    }
    if any(source.inside(call, loop) for call in source.methods("eval")):
        return True
    own = source.function(back.call)
    own_name = own.name.value if own is not None else ""
    calls = [call for call in source.calls() if source.inside(call, loop)]
    return any(dotted(call.func).rpartition(".")[2] in switching - {own_name} for call in calls)


KIND = Kind(edit=edit, interventions=("mode",))
