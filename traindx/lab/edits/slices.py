"""Batches that a training loop cuts from its samples itself: `X[i : i + size]` with `for i in range(0, n, size)`,
`X[k * size : (k + 1) * size]` with `for k in range(n // size)`, `for x in X.split(size)`, and such a loop in a generator
of the project."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.follow import DEEP, follow, resolve
from traindx.lab.edits.origins import certain_value, write_value
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, dotted_name
from traindx.lab.edits.training import WRAPPERS, only_backward, only_call

COUNTING = ("range", "trange", "tqdm.trange", "tqdm.auto.trange", "numpy.arange")
ROUNDING = ("int", "math.ceil", "numpy.ceil", "max", "round")
DRAWS = ("shuffle", "permutation", "randperm", "sample", "choice", "randint")
ORDER = "sample_order"
CUT = "the change goes to the loop that makes the batches"


class Cut(NamedTuple):
    """A loop that makes batches, `sizes`: the expressions in it for their size."""

    source: Source
    loop: cst.For
    sizes: tuple[cst.BaseExpression, ...]


def cuts(project: Project) -> Cut | None:
    """The loop that makes the batches of the training; None where none was found. Raises NotCertain without one
    backward pass."""
    for source, loop in enclosing_loops(project, only_backward(project)):
        found = batches_of_loop(project, source, loop)
        if found is not None:
            return found
    return None


def enclosing_loops(project: Project, at: Found) -> Iterator[tuple[Source, cst.For]]:
    """The loops around a call, innermost first, also around the only call of the function that it is in."""
    here: Found | None = at
    for _ in range(DEEP):
        if here is None:
            return
        for loop in here.source.loops(here.call):
            if isinstance(loop, cst.For):
                yield here.source, loop
        function = here.source.function(here.call)
        here = only_call(project, function.name.value) if function is not None else None


def batches_of_loop(project: Project, source: Source, loop: cst.For) -> Cut | None:
    """The batches that a loop makes, or None."""
    values = unwrap_iterable(source, loop.iter)
    if not isinstance(values, cst.Call):
        return None
    name, given = source.name(values.func).removeprefix("builtins."), [one.value for one in values.args]
    if name in COUNTING and len(given) == 3:
        return of_parts(source, loop, given[2], cst.Add)
    if name in COUNTING and len(given) == 1:
        home, count = resolve(project, source, given[0])
        size = divisor(home, count)
        return of_parts(source, loop, size, cst.Multiply) if size is not None else None
    parts = given if name == "zip" else [values]
    if all(map(is_split, parts)):
        return Cut(source, loop, tuple(one.args[-1].value for one in parts if isinstance(one, cst.Call)))
    return yielded_batches(project, values)


def unwrap_iterable(source: Source, values: cst.BaseExpression) -> cst.BaseExpression:
    """What a loop goes over, without `enumerate`, `tqdm` and the like."""
    while (
        isinstance(values, cst.Call)
        and values.args
        and source.name(values.func).removeprefix("builtins.") in WRAPPERS
    ):
        values = values.args[0].value
    return values


def of_parts(
    source: Source, loop: cst.For, size: cst.BaseExpression, operation: type[cst.BaseBinaryOp]
) -> Cut | None:
    """The batches of a loop that counts in steps of `size`, or counts the batches: where the samples are cut from,
    `i + size` or `k * size`. None where the body has no such part."""
    at = dotted_name(loop.target)
    found = [
        one.right if dotted_name(one.left) == at else one.left for one in source.all(cst.BinaryOperation)
        if source.inside(one, loop.body) and isinstance(one.operator, operation)
        and (dotted_name(one.left) == at or (operation is cst.Multiply and dotted_name(one.right) == at))
    ]  # fmt: skip
    same = [one for one in found if not isinstance(one, cst.Integer) or one.deep_equals(size)]  # not `i + 1`
    return Cut(source, loop, (size, *same)) if at and same else None


def divisor(source: Source, count: cst.CSTNode) -> cst.BaseExpression | None:
    """`size` of `n // size` and of `math.ceil(n / size)`."""
    while (
        isinstance(count, cst.Call)
        and count.args
        and source.name(count.func).removeprefix("builtins.") in ROUNDING
    ):
        count = count.args[0].value
    divides = isinstance(count, cst.BinaryOperation) and isinstance(
        count.operator, (cst.FloorDivide, cst.Divide)
    )
    return count.right if divides and isinstance(count, cst.BinaryOperation) else None


def is_split(values: cst.BaseExpression) -> bool:
    """Whether an expression is `X.split(size)` of samples, not of a text."""
    if not isinstance(values, cst.Call) or not values.args or values.args[-1].keyword is not None:
        return False
    return dotted_name(values.func).rpartition(".")[2] == "split" and not isinstance(
        values.args[-1].value, cst.SimpleString
    )


def yielded_batches(project: Project, call: cst.Call) -> Cut | None:
    """The batches of the project's own generator."""
    name = dotted_name(call.func).rpartition(".")[2]
    for source in project.sources:
        for one in source.all(cst.Yield):
            function = source.function(one)
            loop = next(iter(source.loops(one)), None)
            if function is not None and loop is not None and function.name.value == name:
                return batches_of_loop(project, source, loop) if isinstance(loop, cst.For) else None
    return None


def resize(project: Project, cut: Cut, change: Callable[[float], float]) -> None:
    """Change the size of the batches, wherever it is set. Raises NotCertain where the loop may have several."""
    known, source = project.number("batch_size"), cut.source
    for size in cut.sizes:
        whole = all_samples(project, source, size) if known else None
        if whole is not None and known:
            home, node = whole
            if node not in home.changes:
                wanted = max(1, round(change(known)))
                home.replace(node, f"{wanted}", f"the batch size: {home.code(node)} becomes {wanted}")
            continue
        found = certain_value(project, source, size, "another batch size")
        recorded = known or float(found.value)
        wanted = max(1, round(change(recorded)))
        if found.value == wanted:
            continue
        if found.value != recorded:
            why = f"the source sets {found.value}, but {recorded:g} was recorded"
            raise source.doubt(size, "another batch size", why)
        write_value(
            project, found.origin, round(found.origin.value * wanted / found.value), "the batch size"
        )


def all_samples(
    project: Project, source: Source, size: cst.CSTNode
) -> tuple[Source, cst.BaseExpression] | None:
    """The expression that makes one batch of all samples: `len(X)`, `X.shape[0]` or a name of that, where the name of
    the size is set."""
    chain = [(source, size)]
    while len(chain) <= DEEP and (further := follow(project, *chain[-1])) is not None:
        chain.append(further)
    home, last = chain[-1]
    counts = isinstance(last, cst.Call) and (
        dotted_name(last.func) == "len" or dotted_name(last.func).endswith(".size")
    )
    shape = isinstance(last, cst.Subscript) and dotted_name(last.value).endswith(".shape")
    home, node = chain[1] if len(chain) > 1 and isinstance(size, cst.Name) else chain[0]
    return (home, node) if (counts or shape) and isinstance(node, cst.BaseExpression) else None


def shuffle_cut(project: Project, cut: Cut) -> None:
    """Cut the batches from the samples in a new order for each pass."""
    source, loop = cut.source, cut.loop
    if any(one.value == ORDER for one in source.all(cst.Name)):
        return
    draw, at = source.how_written("torch.randperm", "torch"), dotted_name(loop.target)
    rows = [
        one
        for one in source.all(cst.Subscript)
        if source.inside(one, loop.body) and starts_at(project, source, one, at)
    ]
    names = {dotted_name(one.value) for one in rows}
    if not draw or not rows or "" in names:
        raise source.doubt(loop, CUT, "cannot tell which samples are cut")
    if used_otherwise(source, loop, rows):
        raise source.doubt(loop, CUT, "the place of a batch is used for more than the samples")
    if any(made_anew(source, one.value, loop) for one in rows):
        raise source.doubt(loop, CUT, "the samples may be in a new order in each epoch already")
    says = f"draws the samples in a new order: {', '.join(sorted(names))}"
    source.insert_before(loop, f"{ORDER} = {draw}(len({dotted_name(rows[0].value)}))", says=says)
    for one in rows:
        inner = source.code(one).removeprefix(source.code(one.value))
        source.replace(one, f"{source.code(one.value)}[{ORDER}{inner}]")


def starts_at(project: Project, source: Source, part: cst.Subscript, at: str) -> bool:
    """Whether a part is `X[i : ...]`, also with `start = i` or `X[k * size : ...]`."""
    if len(part.slice) != 1 or not isinstance(part.slice[0].slice, cst.Slice):
        return False
    lower = part.slice[0].slice.lower
    if lower is None:
        return False
    node = lower if dotted_name(lower) == at else resolve(project, source, lower)[1]
    factors = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else (node,)
    return any(dotted_name(one) == at for one in factors)


def used_otherwise(source: Source, loop: cst.For, rows: list[cst.Subscript]) -> bool:
    """Whether the loop uses the place of a batch but to cut samples, to compare it and to print it: targets that
    another function looks up by it would be those of other samples."""
    places = {dotted_name(loop.target)}
    inside = [one for one in source.all(cst.Name) if source.inside(one, loop.body)]
    for one in inside:
        small = source.small(one)
        if one.value not in places or any(source.inside(one, row) for row in rows):
            continue
        if isinstance(small, cst.Assign) and not any(source.inside(row, small) for row in rows):
            calls = [call for call in source.all(cst.Call) if source.inside(call, small)]
            if all(dotted_name(call.func) in ("min", "max", "len") for call in calls):
                places |= {name.value for name in inside if source.inside(name, small.targets[0])}
                continue
        around = [
            above
            for above in source.ancestors(one)
            if isinstance(above, (cst.Call, cst.Comparison, cst.Subscript))
        ]
        shown = (
            isinstance(around[-1], cst.Call) and dotted_name(around[-1].func) == "print" if around else False
        )
        if not shown and not any(isinstance(above, cst.Comparison) for above in around):
            return True
    return False


def made_anew(source: Source, name: cst.BaseExpression, loop: cst.For) -> bool:
    """Whether each pass may have its own order: a name gets a value within a loop around, or samples are drawn in the
    block that the loop is in."""
    function = source.function(loop)
    outer: list[cst.CSTNode] = [*source.loops(loop)] or ([function] if function is not None else [])
    made = source.bindings(name) if isinstance(name, cst.Name) else []
    nodes = [node for one in made if (node := getattr(one, "node", None)) is not None and source.loops(loop)]
    draws = [one for one in source.calls() if dotted_name(one.func).rpartition(".")[2] in DRAWS]
    return any(source.inside(one, block) for one in (*nodes, *draws) for block in outer)
