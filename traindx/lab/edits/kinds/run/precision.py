"""`precision=bfloat16`: autocast to float16 becomes autocast to bfloat16; `precision=float32`: autocast is
off."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, argument, with_argument

AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
HALVES = ("torch.float16", "torch.half")


def edit(project: Project, value: str) -> None:
    found = [(source, call) for source in project.sources for call in source.calls(*AUTOCAST)]
    change = {"bfloat16": bfloat16, "float32": off}.get(value)
    if change is None or not found:
        raise project.doubt(f"precision={value}", "no autocast was found")
    for source, call in found:
        change(project, source, call)


def bfloat16(project: Project, source: Source, call: cst.Call) -> None:
    dtype = argument(call, "dtype", 1)
    if dtype is None:
        code = source.spelled("torch.bfloat16", "torch")
        if not code:
            raise source.doubt(call, "dtype=torch.bfloat16", "torch is not imported in this file")
        source.change(call, lambda node: with_argument(node, "dtype", code))
        project.say(source, source.line(call), f"autocast: dtype={code}")
    elif source.name(dtype.value) in HALVES and isinstance(dtype.value, cst.Attribute):
        source.change(dtype.value, lambda node: node.with_changes(attr=cst.Name("bfloat16")))
        project.say(source, source.line(call), "autocast: bfloat16")
    elif source.name(dtype.value) != "torch.bfloat16":
        raise source.doubt(
            call, "dtype=torch.bfloat16", f"cannot tell where {source.code(dtype.value)} comes from"
        )


def off(project: Project, source: Source, call: cst.Call) -> None:
    given = argument(call, "enabled", 2)
    if given is None:
        source.change(call, lambda node: with_argument(node, "enabled", "False"))
    elif source.code(given.value) == "False":
        return
    else:
        source.replace(given.value, "False")
    project.say(source, source.line(call), "autocast: enabled=False")


KIND = Kind(edit=edit, interventions=("precision",))
