"""`inputs=standardize`: the tensors that the model is called with get mean 0 and deviation 1, computed on
the training part.

Where the tensors or arrays of training and validation have names (`X_train`, or `X[:300]` of a data set),
right before the data set, else before the loop. The statistics are those of all training
samples at once. The intervention only knows the samples seen so far, so the first losses differ."""

from collections.abc import Sequence
from typing import NamedTuple

from libcst.metadata import Assignment

from traindx.lab.edits.api import (
    DEEP,
    TENSORS,
    Found,
    Project,
    Source,
    cst,
    dotted_name,
    indexed_name,
    is_keras,
    loaders,
    made_before,
    model_at,
    normalize_inputs,
    only_backward,
    origin,
    resolve,
    training_loaders,
    writes,
)

MEAN, STD = "input_mean", "input_std"


class Use(NamedTuple):
    """A tensor by its name, and the part of it that is trained on, as written."""

    name: cst.Name
    part: str


@writes("inputs")
def standardize_inputs(project: Project, value: str) -> None:
    if value != "standardize":
        raise project.doubt(f"inputs={value}", "this is an experiment, not a fix")
    if is_keras(project):
        return normalize_inputs(project)
    back = only_backward(project)
    source = back.source
    if any(name.value == MEAN for name in source.all(cst.Name)):
        return None
    dims = axes(project, source, back)
    trained, others, place = loader_tensors(project, source) or call_tensors(project, source, back)
    names = list(dict.fromkeys([trained.name.value, *(other.value for other in others)]))
    refuse_if_not_before(source, [trained.name, *others], place, back)
    lines = [f"{MEAN}, {STD} = {trained.part}.mean({dims}), {trained.part}.std({dims})"]
    lines.append(f"{STD}[{STD} == 0] = 1.0")  # a feature that is constant in training may vary in validation
    lines += [f"{name} = ({name} - {MEAN}) / {STD}" for name in names]
    source.insert_before(place, *lines, says=f"before this: {'; '.join(lines)}")
    return None


def axes(project: Project, source: Source, back: Found) -> str:
    """The dimensions of the statistics: samples of tables, all but the channel of images, all but the last
    dimension of sequences."""
    shape = str(project.facts.get("inputs_shape", ""))
    known = {1: "0", 2: "(0, 1)", 3: "(0, 2, 3), keepdim=True"}
    count = len(shape.split("x")) if shape else 0
    if count not in known:
        raise back.doubt("(X - mean) / std", "the shape of the inputs is unknown")
    return known[count]


def loader_tensors(project: Project, source: Source) -> tuple[Use, list[cst.Name], cst.CSTNode] | None:
    """The tensors of the data sets of loaders, and those that the model is called with elsewhere. None without a
    loader."""
    training, every = training_loaders(project), loaders(project)
    if not every:
        return None
    sets = [tensors(project, source, one) for one in every]
    if len(training) != 1 or training[0].source is not source or None in sets:
        raise every[0].doubt("(X - mean) / std of the data", "the data sets are not tensors with names")
    found = [one for one in sets if one is not None]
    mine = found[[one.call is training[0].call for one in every].index(True)]
    first = min((place for _, place in found), key=source.line)
    others = [one.name for one, _ in found if one is not mine[0]]
    return mine[0], [*others, *other_tensors(project, source, training[0], first)], first


def other_tensors(project: Project, source: Source, loader: Found, place: cst.CSTNode) -> list[cst.Name]:
    """The tensors or arrays of other samples than those of a loader's batches, by which the model is called."""
    names = []
    for call in source.calls():
        model = model_at(project, Found(source, call))
        if not model or dotted_name(call.func) != model or not call.args:
            continue
        name = origin(project, source, call.args[0].value, place)
        if name is None:
            raise loader.doubt("(X - mean) / std", "what the model is called with elsewhere has no name")
        if not made_in(source, name, source.loops(call)):
            names.append(name)
    return names


def made_in(source: Source, name: cst.Name, loops: Sequence[cst.CSTNode]) -> bool:
    """Whether a name gets all its values within one of the loops: it holds a batch."""
    made = source.bindings(name)
    return bool(made) and any(
        all(isinstance(one, Assignment) and source.inside(one.node, loop) for one in made) for loop in loops
    )


def tensors(project: Project, source: Source, loader: Found) -> tuple[Use, cst.CSTNode] | None:
    """The first tensor of `DataLoader(TensorDataset(X[:300], y[:300]))`, also of a data set with a name, or of a
    class of the script that is given tensors or arrays; and the statement that makes the data set."""
    given = loader.argument("dataset", 0)
    home, data = (source, given) if given is None else resolve(project, source, given)
    if home is not source or not isinstance(data, cst.Call) or not data.args:
        return None
    own = {
        one.name.value
        for one in source.all(cst.ClassDef)
        if any(dotted_name(base.value).endswith("Dataset") for base in one.bases)
    }
    if source.name(data.func) != TENSORS and dotted_name(data.func) not in own:
        return None
    found, place = use(source, data.args[0].value), source.small(data)
    return None if found is None or place is None else (found, place)


def use(source: Source, node: cst.BaseExpression) -> Use | None:
    name = indexed_name(node)
    return None if name is None else Use(name, source.code(node))


def call_tensors(project: Project, source: Source, back: Found) -> tuple[Use, list[cst.Name], cst.CSTNode]:
    """The tensors that the model is called with: rows of one in the training loop, others elsewhere."""
    loops = source.loops(back.call)
    inside: list[Use] = []
    others: list[Use] = []
    for call in source.calls():
        model = model_at(project, Found(source, call))
        if model and dotted_name(call.func) == model and call.args:
            given = call.args[0].value
            made = origin(project, source, given, loops[-1]) if loops else None
            found = use(source, given) or (None if made is None else Use(made, made.value))
            if found is None:
                raise back.doubt("(X - mean) / std", "what the model is called with has no name")
            if made is not None and made_before(source, made, loops[-1]):
                found = found._replace(name=made)
            (inside if loops and source.inside(call, loops[0]) else others).append(found)
    names = {one.name.value for one in inside}
    if len(names) != 1:
        raise back.doubt("(X - mean) / std", "cannot tell which tensor is trained on")
    trained = Use(inside[0].name, inside[0].name.value)
    if names & {one.name.value for one in others}:  # one tensor holds the samples of both
        trained = Use(
            inside[0].name, f"{inside[0].name.value}[{rows(project, source, inside[0], loops[-1], back)}]"
        )
    return trained, [one.name for one in others], loops[-1]


def rows(project: Project, source: Source, trained: Use, loop: cst.CSTNode, back: Found) -> str:
    """The rows of a tensor that are trained on: the name of an index that exists before the loop, or ":n" of
    a `randperm(n)`."""
    part = source.parents[trained.name]
    node: cst.CSTNode | None = (
        part.slice[0].slice if isinstance(part, cst.Subscript) and len(part.slice) == 1 else None
    )
    node = node.value if isinstance(node, cst.Index) else None
    for _ in range(DEEP):
        if isinstance(node, cst.Name):
            if made_before(source, node, loop):
                return str(node.value)
            node = value_of(project, source, node)
        elif (
            isinstance(node, cst.Call) and source.name(node.func) == "torch.randperm" and len(node.args) == 1
        ):
            return f":{source.code(node.args[0].value)}"
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            break
    raise back.doubt("(X - mean) / std", "cannot tell which rows are trained on")


def value_of(project: Project, source: Source, name: cst.Name) -> cst.CSTNode | None:
    """What a name is assigned, or drawn from if it is the target of a loop."""
    home, value = resolve(project, source, name)
    if home is source and value is not name:
        return value
    loops = [
        one
        for one in source.ancestors(name)
        if isinstance(one, cst.For) and dotted_name(one.target) == name.value
    ]
    return loops[0].iter if loops else None


def refuse_if_not_before(source: Source, names: list[cst.Name], place: cst.CSTNode, back: Found) -> None:
    """Refuse where a tensor does not exist yet at the place, or is made again after it."""
    for name in names:
        if not made_before(source, name, place):
            raise back.doubt(f"({name.value} - mean) / std", "cannot tell where it is made")
