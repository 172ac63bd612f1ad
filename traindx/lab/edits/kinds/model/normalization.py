"""`normalize=layer`, `normalize=batch`: a norm between a linear layer and its hidden activation, in sequences."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.model.dropout import ACTIVATIONS
from traindx.lab.edits.model import kind, sequences
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import Source, argument

NORMS = {"layer": "LayerNorm", "batch": "BatchNorm1d"}
OTHERS = ("LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "RMSNorm", "InstanceNorm2d")


def edit(project: Project, value: str) -> None:
    wanted = NORMS.get(value)
    found = list(sequences(project))
    if wanted is None or any(kind(s, c) in OTHERS for s in project.sources for c in s.calls()):
        if any(kind(s, c) == wanted for s in project.sources for c in s.calls()):
            return
        raise NotCertain(f"normalize={value}", "the model has norms of its own", project.script)
    count = 0
    for source, sequence, elements in found:
        for (layer, made), (after, activation) in pairwise(elements):
            if made == "Linear" and activation in ACTIVATIONS:
                put(project, source, sequence, layer, after, wanted)
                count += 1
    if not count:
        raise NotCertain(
            f"{wanted} behind the hidden layers", "no sequence of layers was found", project.script
        )


def put(
    project: Project, source: Source, sequence: cst.Call, layer: cst.Call, after: cst.Call, wanted: str
) -> None:
    """One norm, as wide as the layer that it stands behind."""
    width = argument(layer, "out_features", 1)
    if width is None or not isinstance(layer.func, cst.Attribute):
        raise NotCertain(
            f"{wanted} here", "the layer's width is not certain", source.path, source.line(layer)
        )
    code = f"{source.code(layer.func.value)}.{wanted}({source.code(width.value)})"
    place = [arg.value is after for arg in sequence.args].index(True)
    old = source.code(sequence.args[place - 1].value)

    def insert(node: cst.Call) -> cst.Call:
        empty = cst.Module([])
        args = list(node.args)
        for i, arg in enumerate(args[:-1]):
            told = empty.code_for_node(arg.value)
            if told == old and empty.code_for_node(args[i + 1].value) != code:
                args.insert(i + 1, arg.with_changes(value=cst.parse_expression(code)))
                break
        return node.with_changes(args=args)

    source.change(sequence, insert)
    project.say(source, source.line(layer), f"behind {old}: {code}")


KIND = Kind(edit=edit, interventions=("normalize",))
