"""The only `.detach()` or `.data` in a forward pass goes (fix `reattach-graph`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.model import forward_of
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import Source


def edit(project: Project, _value: str) -> None:
    cuts = [(source, node) for source in project.sources for node in in_forward(source)]
    if len(cuts) != 1:
        why = f"{len(cuts)} cuts were found in forward passes"
        first = cuts[0] if cuts else None
        raise NotCertain(
            "no .detach(), .data, .item() or no_grad() between the layers and the loss", why,
            first[0].path if first else project.script, first[0].line(first[1]) if first else 0,
        )  # fmt: skip
    source, node = cuts[0]
    inner: cst.CSTNode
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        inner = node.func.value
    else:
        inner = node.value  # type: ignore[attr-defined]
    text = source.code(node)
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
    """Whether `.data` is of something computed, and not of a parameter."""
    return not source.code(node.value).startswith("self.") or isinstance(node.value, cst.Call)


KIND = Kind(edit=edit, fixes=("reattach-graph",))
