"""A Keras model that normalizes its inputs itself, so that a saved one takes them as they are."""

import libcst as cst

from traindx.lab.edits.follow import made_before, origin
from traindx.lab.edits.keras_model import fits
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, assigned_name, dotted_name

WRITE = "a keras.layers.Normalization, adapted to the training data, as the first layer"
STACKS = ("keras.Sequential", "keras.models.Sequential")
GIVEN = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
NAME = "normalize"


def normalize_inputs(project: Project) -> None:
    """Put a `Normalization` of the training data in front of the other layers. Raises NotCertain."""
    stacks = [one for one in project.calls() if one.source.name(one.call.func).endswith(STACKS)]
    if any(f"{NAME}.adapt(" in one.text for one in project.sources):
        return
    if len(stacks) != 1:
        raise project.doubt(WRITE, "the model is not one stack of layers")
    stack, source = stacks[0], stacks[0].source
    trained = [
        one for one in fits(project) if dotted_name(one.call.func) == f"{assigned_name(stack.small)}.fit"
    ]
    start = first_layer(stack)
    if len(trained) != 1 or trained[0].source is not source or start is None:
        raise stack.doubt(WRITE, "cannot tell where its layers or its training data are made")
    (layer, place), data = start, trained[0].argument("x", 0)
    used = None if data is None else origin(project, source, data, place)
    if used is None or not made_before(source, used, place):
        raise stack.doubt(WRITE, "the training data is made after the model")
    made = layer.func
    maker = (
        f"{source.code(made.value)}.Normalization" if isinstance(made, cst.Attribute) else "Normalization"
    )
    if maker == "Normalization":
        home = source.name(made).rpartition(".")[0]
        source.insert_before(place, f"from {home} import Normalization")
    source.insert_before(place, f"{NAME} = {maker}()", f"{NAME}.adapt({used.value})")
    put_first(source, stack, layer, place)
    source.say(stack.call, "the model normalizes its inputs by the training data")


def first_layer(stack: Found) -> tuple[cst.Call, cst.BaseSmallStatement] | None:
    """The first layer of a stack, by its list or by the first `add`, and the statement before which a new layer can
    be made. None where that is not known."""
    listed = stack.argument("layers", 0)
    if isinstance(listed, cst.List) and listed.elements:
        first = listed.elements[0].value
        return (first, stack.small) if isinstance(first, cst.Call) else None
    name, source = assigned_name(stack.small), stack.source
    adds = [call for call in source.methods("add") if dotted_name(call.func) == f"{name}.add" and call.args]
    first_add = min(adds, key=source.line, default=None)
    layer = None if first_add is None else first_add.args[0].value
    place = None if first_add is None else source.small(first_add)
    return (layer, place) if isinstance(layer, cst.Call) and isinstance(place, cst.Expr) else None


def put_first(source: Source, stack: Found, layer: cst.Call, place: cst.BaseSmallStatement) -> None:
    """Put the new layer in front, or behind the declaration of an input."""
    behind = source.name(layer.func).endswith(GIVEN)
    listed = stack.argument("layers", 0)
    if not isinstance(listed, cst.List):
        line = f"{assigned_name(stack.small)}.add({NAME})"
        (source.insert_after if behind else source.insert_before)(place, line)
        return
    first, rest = listed.elements[0], listed.elements[1:]
    comma = first.comma if rest else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    new = cst.Element(cst.Name(NAME), comma=comma)
    if behind and not rest:
        raise stack.doubt(WRITE, "it has an input alone")
    elements = [first, new, *rest] if behind else [new, *listed.elements]
    source.change(listed, lambda found: found.with_changes(elements=elements))
