"""Removes the only `.detach()` or `.data` of a forward pass (fix `reattach-graph`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.model import forward_of
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source


def edit(project: Project, _value: str) -> None:
    cuts = [(source, node) for source in project.sources for node in in_forward(source)]
    if len(cuts) != 1:
        write = "no .detach(), .data, .item() or no_grad() between the layers and the loss"
        why = f"{len(cuts)} cuts were found in forward passes"
        raise cuts[0][0].doubt(cuts[0][1], write, why) if cuts else project.doubt(write, why)
    source, node = cuts[0]
    cut = node.func if isinstance(node, cst.Call) else node
    assert isinstance(cut, cst.Attribute)
    text, inner = source.code(node), cut.value
    source.change(node, lambda _: inner)
    project.say(source, source.line(node), f"{text} becomes {source.code(inner)}")


def in_forward(source: Source) -> list[cst.CSTNode]:
    """The cuts in forward passes of the project's modules."""
    found: list[cst.CSTNode] = [
        call for call in source.methods("detach") if forward_of(source, call) is not None and not call.args
    ]
    found += [
        node
        for node in source.all(cst.Attribute)
        if node.attr.value == "data" and forward_of(source, node) is not None and own_value(source, node)
    ]
    return found


def own_value(source: Source, node: cst.Attribute) -> bool:
    """Whether `.data` is read from something computed, and not from a parameter."""
    return not source.code(node.value).startswith("self.") or isinstance(node.value, cst.Call)


KIND = Kind(edit=edit, fixes=("reattach-graph",))
