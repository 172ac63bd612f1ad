"""`normalize=layer`, `normalize=batch`: a norm between a linear layer and its hidden activation, in
sequences.

`dropout=0`, `dropout=0.2`, `dropout=*0.33`: the rates where they are set; without any, dropout after the
hidden activations of sequences."""

from functools import partial
from itertools import pairwise

from traindx.lab.edits.api import (
    Change,
    Project,
    Source,
    argument,
    certain_value,
    cst,
    in_sequence,
    insert_behind,
    is_hidden,
    kind,
    modules,
    sequences,
    words_of,
    write_value,
    writes,
)

NORMS = {"layer": "LayerNorm", "batch": "BatchNorm1d"}
OTHERS = ("LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "RMSNorm", "InstanceNorm2d")


@writes("normalize")
def add_normalization(project: Project, value: str) -> None:
    wanted = NORMS[value]
    found = list(sequences(project))
    if any(kind(s, c) in OTHERS for s in project.sources for c in s.calls()):
        if any(kind(s, c) == wanted for s in project.sources for c in s.calls()):
            return
        raise project.doubt(f"normalize={value}", "the model already has normalization layers")
    count = 0
    for source, sequence, elements in found:
        for (layer, made), (after, activation) in pairwise(elements):
            if made == "Linear" and activation in ACTIVATIONS:
                put_norm(project, source, sequence, layer, after, wanted)
                count += 1
    if not count:
        raise project.doubt(f"{wanted} after the hidden layers", "no sequence of layers was found")


def put_norm(
    project: Project, source: Source, sequence: cst.Call, layer: cst.Call, after: cst.Call, wanted: str
) -> None:
    """One norm, as wide as the layer before it."""
    width = argument(layer, "out_features", 1)
    if width is None or not isinstance(layer.func, cst.Attribute):
        raise source.doubt(layer, f"{wanted} here", "cannot tell how wide the layer is")
    code = f"{source.code(layer.func.value)}.{wanted}({source.code(width.value)})"
    place = [arg.value is after for arg in sequence.args].index(True)
    old = source.code(sequence.args[place - 1].value)
    source.change(sequence, partial(insert_behind, code=old, new=code), f"after {old}: {code}", at=layer)


DROPS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")
FUNCTIONS = {  # the argument that is the rate: its name and place
    **{
        f"torch.nn.functional.{name}": ("p", 1)
        for name in ("dropout", "dropout1d", "dropout2d", "alpha_dropout")
    },
    "keras.layers.Dropout": ("rate", 0),
    "tensorflow.keras.layers.Dropout": ("rate", 0),
}
BLOCKS = {"TransformerEncoderLayer": 3, "TransformerDecoderLayer": 3, "MultiheadAttention": 2,
          "Transformer": 5,
          "LSTM": None, "GRU": None, "RNN": None}  # fmt: skip
NEAR = 1e-6  # the rounding of what was recorded
ACTIVATIONS = ("ReLU", "GELU", "SiLU", "Tanh", "LeakyReLU", "ELU", "Mish", "Sigmoid")


@writes("dropout")
def set_dropout(project: Project, value: Change) -> None:
    found = rates(project)
    if not found and not value.relative and value.number > 0:
        return add(project, value.number)
    if not found:
        raise project.doubt(f"dropout={value}", "no dropout was found")
    for source, call, node in found:
        if node is None:
            raise source.doubt(call, "another dropout", "its rate is the default")
    values = [
        certain_value(project, source, node, "another dropout")
        for source, _, node in found
        if node is not None
    ]
    recorded, highest = project.number("dropout"), max(one.value for one in values)
    if value.relative and recorded and abs(highest - value.apply_to(recorded)) <= NEAR * recorded:
        return None  # it has the rate already
    for one in {one.origin.place: one for one in values}.values():
        wanted = value.apply_to(one.value)
        if one.value not in (0, wanted):
            write_value(project, one.origin, one.origin.value * wanted / one.value, "the dropout")
    return None


def rates(project: Project) -> list[tuple[Source, cst.Call, cst.BaseExpression | None]]:
    """Every dropout, with the expression of its rate (None where it is the default)."""
    found: list[tuple[Source, cst.Call, cst.BaseExpression | None]] = []
    for source, call in modules(project, *DROPS):
        arg = argument(call, "p", 0)
        found.append((source, call, arg.value if arg else None))
    for source, call in project.calls(*FUNCTIONS):
        arg = argument(call, *FUNCTIONS[source.name(call.func)])
        found.append((source, call, arg.value if arg else None))
    for source, call in modules(project, *BLOCKS):
        arg = argument(call, "dropout", BLOCKS[kind(source, call)])
        if arg is not None:
            found.append((source, call, arg.value))
        elif kind(source, call).startswith("Transformer"):
            found.append((source, call, None))
    return found


def add(project: Project, rate: float) -> None:
    """`nn.Dropout(rate)` after each hidden activation of the sequences."""
    count = 0
    for source, call in modules(project, *ACTIVATIONS):
        if in_sequence(source, call) and is_hidden(source, call) and isinstance(call.func, cst.Attribute):
            outer = in_sequence(source, call)
            assert outer is not None
            home = source.code(call.func.value)
            code = f"{home}.Dropout({words_of(rate)})"
            before = source.code(call)
            source.change(
                outer, partial(insert_behind, code=before, new=code), f"after {before}: {code}", at=call
            )
            count += 1
    if not count:
        raise project.doubt(
            f"nn.Dropout({rate:g}) after the hidden activations",
            "no hidden activation in a sequence was found",
        )
