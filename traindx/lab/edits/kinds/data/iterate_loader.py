"""A loop that uses one batch again and again iterates over the loader instead (fix `iterate-the-loader`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.follow import resolve
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.run.training_mode import inner
from traindx.lab.edits.model import leaves
from traindx.lab.edits.origins import trace
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, dotted
from traindx.lab.edits.training import LOADER, the_backward


def edit(project: Project, _value: str) -> None:
    back = the_backward(project)
    source, loops = back.source, back.source.loops(back.call)
    for loop in loops:
        loader = repeated(source, loop.iter) if isinstance(loop, cst.For) else None
        if isinstance(loop, cst.For) and loader is not None:
            code = source.code(loader)
            source.replace(loop.iter, code)
            project.say(source, source.line(loop), f"iterates over {code}, and not over one batch of it")
            return
    drawn = drawn_once(source, loops, back)
    write = "for batch in loader: a new batch in each step"
    if drawn is None:
        raise back.doubt(write, "what repeats a batch was not found")
    if not shuffled(project, source, drawn):
        raise back.doubt(write, "the loader does not shuffle")
    source.remove(drawn)
    source.insert_before(inner(loops[0].body.body[0]), source.code(drawn))
    project.say(source, source.line(drawn), f"moved into the loop: {source.code(drawn)}")


def first_of(source: Source, node: cst.CSTNode) -> cst.BaseExpression | None:
    """`loader` of `next(iter(loader))`."""
    if isinstance(node, cst.Call) and dotted(node.func) == "next" and len(node.args) == 1:
        made = node.args[0].value
        if isinstance(made, cst.Call) and dotted(made.func) == "iter" and len(made.args) == 1:
            return made.args[0].value
    return None


def repeated(source: Source, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`loader` of `[next(iter(loader))] * n`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return None
    listed = node.left
    if not isinstance(listed, cst.List) or len(listed.elements) != 1:
        return None
    return first_of(source, listed.elements[0].value)


def drawn_once(source: Source, loops: list[cst.For | cst.While], back: Found) -> cst.Assign | None:
    """`x, y = next(iter(loader))` before the only loop, where its names are used."""
    if len(loops) != 1 or not isinstance(loops[0].body, cst.IndentedBlock):
        return None
    found = []
    for statement in source.all(cst.Assign):
        same = source.function(statement) is source.function(back.call) and source.line(
            statement
        ) < source.line(loops[0])
        if same and first_of(source, statement.value) is not None:
            names = {
                node.value
                for t in statement.targets
                for node in leaves(t.target)
                if isinstance(node, cst.Name)
            }
            used = {n.value for n in leaves(loops[0].body) if isinstance(n, cst.Name)}
            found += [statement] if names & used else []
    return found[0] if len(found) == 1 else None


def shuffled(project: Project, source: Source, drawn: cst.Assign) -> bool:
    """Whether a new pass over the loader begins with another batch."""
    loader = first_of(source, drawn.value)
    home, made = resolve(project, source, loader) if loader is not None else (source, drawn)
    if not isinstance(made, cst.Call) or home.name(made.func) != LOADER:
        return False
    given = Found(home, made).given("shuffle", 2)
    value = trace(project, home, given) if given is not None else None
    return value is not None and value.value is True


KIND = Kind(edit=edit, fixes=("iterate-the-loader",))
