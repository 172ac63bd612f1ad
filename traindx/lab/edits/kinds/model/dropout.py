"""`dropout=0`, `dropout=0.2`, `dropout=*0.33`: the rates where they stand; without any, dropout behind the hidden
activations of sequences."""

from __future__ import annotations

from functools import partial

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.model import hidden, in_sequence, kind, modules
from traindx.lab.edits.origins import Value, put, trace, words_of
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import Source, argument
from traindx.lab.edits.values import scaled_or_set

DROPS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")
FUNCTIONS = tuple(
    f"torch.nn.functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "alpha_dropout")
)
BLOCKS = {"TransformerEncoderLayer": 3, "TransformerDecoderLayer": 3, "MultiheadAttention": 2, "Transformer": 5,
          "LSTM": None, "GRU": None, "RNN": None}  # fmt: skip
NEAR = 1e-6  # the rounding of what was recorded
ACTIVATIONS = ("ReLU", "GELU", "SiLU", "Tanh", "LeakyReLU", "ELU", "Mish", "Sigmoid")


def edit(project: Project, value: str) -> None:
    given = scaled_or_set(value)
    if given is None:
        raise NotCertain(f"dropout={value}", "no such rate", project.script)
    found = rates(project)
    if not found and given[0] == "=" and given[1] > 0:
        return add(project, given[1])
    if not found:
        raise NotCertain(f"dropout={value}", "no dropout was found", project.script)
    values = [traced(project, *one) for one in found]
    recorded, highest = project.number("dropout"), max(one.value for one in values)
    if given[0] == "*" and recorded and abs(highest - recorded * given[1]) <= NEAR * recorded:
        return None  # it is as asked already
    for one in {one.origin.place: one for one in values}.values():
        wanted = one.value * given[1] if given[0] == "*" else given[1]
        if one.value not in (0, wanted):
            put(project, one.origin, one.origin.value * wanted / one.value, "the dropout")
    return None


def traced(project: Project, source: Source, call: cst.Call, node: cst.BaseExpression | None) -> Value:
    """A rate, and where it stands."""
    if node is None:
        raise NotCertain("another dropout", "its rate is the default", source.path, source.line(call))
    found = trace(project, source, node)
    if found is None or not found.linear or isinstance(found.value, (str, bool)):
        why = f"where {source.code(node)} comes from is not certain"
        raise NotCertain("another dropout", why, source.path, source.line(node))
    return found


def rates(project: Project) -> list[tuple[Source, cst.Call, cst.BaseExpression | None]]:
    """Every dropout, with the expression of its rate (None: the default)."""
    found: list[tuple[Source, cst.Call, cst.BaseExpression | None]] = []
    for source, call in modules(project, *DROPS):
        arg = argument(call, "p", 0)
        found.append((source, call, arg.value if arg else None))
    for source in project.sources:
        for call in source.calls(*FUNCTIONS):
            arg = argument(call, "p", 1)
            found.append((source, call, arg.value if arg else None))
    for source, call in modules(project, *BLOCKS):
        arg = argument(call, "dropout", BLOCKS[kind(source, call)])
        if arg is not None:
            found.append((source, call, arg.value))
        elif kind(source, call).startswith("Transformer"):
            found.append((source, call, None))
    return found


def add(project: Project, rate: float) -> None:
    """`nn.Dropout(rate)` behind each hidden activation of the sequences."""
    count = 0
    for source, call in modules(project, *ACTIVATIONS):
        if in_sequence(source, call) and hidden(source, call) and isinstance(call.func, cst.Attribute):
            outer = in_sequence(source, call)
            assert outer is not None
            home = source.code(call.func.value)
            code = f"{home}.Dropout({words_of(rate)})"
            source.change(outer, partial(behind, code=source.code(call), new=code))
            project.say(source, source.line(call), f"behind {source.code(call)}: {code}")
            count += 1
    if not count:
        why = "no hidden activation in a sequence was found"
        raise NotCertain(f"nn.Dropout({rate:g}) behind the hidden activations", why, project.script)


def behind(sequence: cst.Call, code: str, new: str) -> cst.Call:
    """A sequence with a module behind the next one of these that has none yet."""
    empty = cst.Module([])
    args = list(sequence.args)
    for i, arg in enumerate(args[:-1]):
        fresh = empty.code_for_node(arg.value) == code and empty.code_for_node(args[i + 1].value) != new
        if fresh:
            args.insert(i + 1, arg.with_changes(value=cst.parse_expression(new)))
            break
    return sequence.with_changes(args=args)


KIND = Kind(edit=edit, interventions=("dropout",))
