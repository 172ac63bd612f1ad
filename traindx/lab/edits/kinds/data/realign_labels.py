"""Inputs that are shuffled without their labels: `X = X[order]` alone, or `np.random.shuffle(X)` (fix
`realign-labels`)."""

from collections.abc import Iterator
from typing import NamedTuple

from traindx.lab.edits.api import (
    TENSORS,
    Project,
    Source,
    assigned_name,
    cst,
    dotted_name,
    leaf_nodes,
    writes,
)

IN_PLACE = ("numpy.random.shuffle", "random.shuffle")
ORDERS = ("permutation", "randperm")  # last parts of what draws an order
PAIRED = (TENSORS, "zip", "sklearn.model_selection.train_test_split")


class Shuffled(NamedTuple):
    """A statement that shuffles one array; `order` names its order, "" where it is shuffled in place."""

    small: cst.BaseSmallStatement
    array: str
    order: str


@writes(fixes=("realign-labels",))
def realign(project: Project, _value: str) -> None:
    """Give the other array of a pair the same order."""
    wish = "one order for inputs and labels"
    found = [
        (source, one, other)
        for source in project.sources
        for one in shuffled(source)
        for other in partners(source, one.array)
        if not is_ordered(source, other, one.order)
    ]
    if len({(one.small, other) for _, one, other in found}) != 1:
        why = "several arrays are shuffled" if found else "no array is shuffled without its partner"
        raise project.doubt(wish, why)
    source, one, other = found[0]
    if source.function(one.small) is not None and other not in names_in(source, source.function(one.small)):
        raise source.doubt(one.small, wish, f"{other} is not known here")
    line = f"{other} = {other}[{one.order}]"
    if one.order:
        return source.insert_after(one.small, line, says=line, at=one.small)
    spelled = source.how_written("numpy.random.permutation", "numpy")
    if not spelled:
        raise source.doubt(one.small, wish, "cannot tell whether they are arrays")
    ordered = f"order = {spelled}(len({one.array}))"
    both = f"{one.array}, {other} = {one.array}[order], {other}[order]"
    source.insert_after(one.small, ordered, both, says=both, at=one.small)
    return source.remove(one.small)


def shuffled(source: Source) -> Iterator[Shuffled]:
    """The statements that shuffle an array alone."""
    for one in source.all(cst.Assign):
        name, value = assigned_name(one), one.value
        order = index_of(value, name)
        if name and order and draws_order(source, order):
            yield Shuffled(one, name, order)
    for call in source.calls(*IN_PLACE):
        small = source.small(call)
        name = dotted_name(call.args[0].value) if len(call.args) == 1 else ""
        if isinstance(small, cst.Expr) and name:
            yield Shuffled(small, name, "")


def index_of(value: cst.BaseExpression, name: str) -> str:
    """`order` of `name[order]`, "" of anything else."""
    if not isinstance(value, cst.Subscript) or dotted_name(value.value) != name or len(value.slice) != 1:
        return ""
    index = value.slice[0].slice
    return dotted_name(index.value) if isinstance(index, cst.Index) else ""


def draws_order(source: Source, name: str) -> bool:
    """Whether a name is given what draws an order: `torch.randperm(n)`, `rng.permutation(n).tolist()`."""
    given = [one.value for one in source.all(cst.Assign) if assigned_name(one) == name]
    calls = [node for value in given for node in leaf_nodes(value) if isinstance(node, cst.Call)]
    return len(given) == 1 and any(dotted_name(call.func).rpartition(".")[2] in ORDERS for call in calls)


def partners(source: Source, array: str) -> set[str]:
    """The arrays that are paired with this one: `y` of `TensorDataset(f(X), f(y))`, `zip(X, y)`, `fit(X, y)`, and of
    the script's own data set."""
    own = [one.name.value for one in source.all(cst.ClassDef) if is_data_set(one)]
    pairs = [call for call in [*source.calls(*PAIRED, *own), *source.methods("fit")] if len(call.args) >= 2]
    found = set()
    for call in pairs:
        first, second = (roots(source, arg.value) for arg in call.args[:2])
        if array in first and len(second) == 1:
            found |= second
    return found - {array}


def is_data_set(one: cst.ClassDef) -> bool:
    return any(dotted_name(base.value).endswith("Dataset") for base in one.bases)


def roots(source: Source, node: cst.BaseExpression) -> set[str]:
    """The names of arrays in an expression, without modules, functions and indices."""
    assigned = {name for one in source.all(cst.Assign) for name in targets(one)}
    return assigned & {one.value for one in leaf_nodes(node) if isinstance(one, cst.Name)}


def targets(assign: cst.Assign) -> set[str]:
    """The names that an assignment gives, also several at once: `X, y = load()`."""
    first = assign.targets[0].target
    return (
        {dotted_name(one.value) for one in first.elements}
        if isinstance(first, cst.Tuple)
        else {dotted_name(first)}
    )


def is_ordered(source: Source, array: str, order: str) -> bool:
    """Whether an array is brought into this order somewhere."""
    uses = (one for one in source.all(cst.Subscript) if dotted_name(one.value) == array)
    return bool(order) and any(index_of(one, array) == order for one in uses)


def names_in(source: Source, function: cst.FunctionDef | None) -> set[str]:
    """The names that a function uses."""
    return {
        one.value for one in source.all(cst.Name) if function is not None and source.inside(one, function)
    }
