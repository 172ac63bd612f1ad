"""Losses that are kept with their graph are kept without it: `losses.append(loss)`, `total += loss` (fix
`release-graph`). What is kept stays a tensor, so that whatever reads it goes on."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import Source
from traindx.lab.edits.training import Found, backwards


def edit(project: Project, _value: str) -> None:
    found = [(back.source, node) for back in backwards(project) for node in kept(back)]
    freed = any(
        source.code(c).endswith(".detach())") for source in project.sources for c in source.methods("append")
    )
    for source, node in dict.fromkeys(found):
        source.change(node, lambda old: cst.Call(cst.Attribute(old, cst.Name("detach"))))
        project.say(source, source.line(node), f"{source.code(node)} is kept without its graph")
    if not found and not freed and not detached(project):
        raise NotCertain("loss.item() in what is kept", "what keeps the graph was not found", project.script)


def detached(project: Project) -> bool:
    """Whether what is added up is detached already."""
    return any(
        source.code(add.value).endswith((".detach()", ".item()"))
        for source in project.sources
        for add in source.all(cst.AugAssign)
    )


def kept(back: Found) -> list[cst.Name]:
    """The uses of a loss that keep it: appended to a list, or added to a sum that lives on."""
    source = back.source
    loss = back.call.func.value if isinstance(back.call.func, cst.Attribute) else None
    if not isinstance(loss, cst.Name):
        return []
    same = [
        name
        for name in source.all(cst.Name)
        if name.value == loss.value and source.function(name) is source.function(loss)
    ]
    return [name for name in same if keeps(source, name, back)]


def keeps(source: Source, name: cst.Name, back: Found) -> bool:
    parent = source.parents.get(name)
    if isinstance(parent, cst.Arg):
        call = source.parents[parent]
        return (
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Attribute)
            and call.func.attr.value == "append"
        )
    adding = parent
    while isinstance(adding, cst.BinaryOperation):  # total += loss * n
        adding = source.parents.get(adding)
    behind = source.line(name) > back.line
    return isinstance(adding, cst.AugAssign) and isinstance(adding.operator, cst.AddAssign) and behind


KIND = Kind(edit=edit, fixes=("release-graph",))
