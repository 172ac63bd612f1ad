"""`normalize=layer`, `normalize=batch`: a norm between a linear layer and its hidden activation, in
sequences."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.model.dropout import ACTIVATIONS
from traindx.lab.edits.model import insert_behind, kind, sequences
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, argument

NORMS = {"layer": "LayerNorm", "batch": "BatchNorm1d"}
OTHERS = ("LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "RMSNorm", "InstanceNorm2d")


def edit(project: Project, value: str) -> None:
    wanted = NORMS.get(value)
    found = list(sequences(project))
    if wanted is None or any(kind(s, c) in OTHERS for s in project.sources for c in s.calls()):
        if any(kind(s, c) == wanted for s in project.sources for c in s.calls()):
            return
        raise project.doubt(f"normalize={value}", "the model already has normalization layers")
    count = 0
    for source, sequence, elements in found:
        for (layer, made), (after, activation) in pairwise(elements):
            if made == "Linear" and activation in ACTIVATIONS:
                put(project, source, sequence, layer, after, wanted)
                count += 1
    if not count:
        raise project.doubt(f"{wanted} after the hidden layers", "no sequence of layers was found")


def put(
    project: Project, source: Source, sequence: cst.Call, layer: cst.Call, after: cst.Call, wanted: str
) -> None:
    """One norm, as wide as the layer before it."""
    width = argument(layer, "out_features", 1)
    if width is None or not isinstance(layer.func, cst.Attribute):
        raise source.doubt(layer, f"{wanted} here", "cannot tell how wide the layer is")
    code = f"{source.code(layer.func.value)}.{wanted}({source.code(width.value)})"
    place = [arg.value is after for arg in sequence.args].index(True)
    old = source.code(sequence.args[place - 1].value)
    source.change(sequence, partial(insert_behind, code=old, new=code))
    project.say(source, source.line(layer), f"after {old}: {code}")


KIND = Kind(edit=edit, interventions=("normalize",))
