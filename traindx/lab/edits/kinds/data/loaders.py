"""Arguments of the training loaders: `batch=32`, `batch=*4`, `workers=4`, `prefetch=4`, `data=shuffle`.

A loop that uses one batch again and again iterates over the loader instead (fix `iterate-the-loader`)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from traindx.lab.edits.api import (
    LOADER,
    Change,
    Found,
    Kind,
    Project,
    Source,
    certain_value,
    cst,
    cuts,
    dotted_name,
    fits,
    is_keras,
    leaf_nodes,
    only_backward,
    resize,
    resolve,
    shuffle_cut,
    trace,
    training_loaders,
    write_value,
    writes,
)
from traindx.lab.edits.kinds.run.modes import inner

PLACES = {"batch_size": 1, "shuffle": 2, "num_workers": 5}


def each_loader(project: Project, value: Any, change: Callable[[Project, Found, Any], None]) -> None:
    found = training_loaders(project) or (fits(project) if change is batch and is_keras(project) else [])
    by_hand = not found and (change is batch or value == "shuffle") and project.methods("backward")
    if by_hand and (cut := cuts(project)) is not None:
        return resize(project, cut, value.apply_to) if change is batch else shuffle_cut(project, cut)
    if not found:
        raise project.doubt(f"{value} for the training loader", "the training DataLoader was not found")
    for one in found:
        if one.argument("batch_sampler") is not None:
            raise one.doubt(value, "a batch sampler makes its batches")
        change(project, one, value)


def batch(project: Project, one: Found, value: Change) -> None:
    node = one.argument("batch_size", 2 if one.kind == "fit" else PLACES["batch_size"])
    if node is None and one.kind == "fit":
        size = value.apply_to(project.number("batch_size") or 32)
        return add(one, "batch_size", str(max(1, round(size))))
    if node is None:
        raise one.doubt("another batch_size", "it has no batch size")
    known = project.number("batch_size")
    if (
        known and isinstance(node, cst.Call) and dotted_name(node.func) == "len"
    ):  # the whole data set as one batch
        size = max(1.0, round(value.apply_to(known)))
        says = f"the batch size: {one.source.code(node)} becomes {size:.0f}"
        return one.source.replace(node, f"{size:.0f}", says, at=one.call)
    found = certain_value(project, one.source, node, "another batch_size", one.call)
    recorded = known or float(found.value)
    wanted = max(1, round(value.apply_to(recorded)))
    if found.value == wanted:
        return None
    if found.value != recorded:
        why = f"the source sets {found.value}, but {recorded:g} was recorded"
        raise one.doubt(f"batch_size={wanted}", why)
    return write_value(
        project, found.origin, round(found.origin.value * wanted / found.value), "the batch size"
    )


def prefetch(project: Project, one: Found, value: int) -> None:
    if one.argument("num_workers", PLACES["num_workers"]) is None:
        raise one.doubt(f"num_workers=2, prefetch_factor={value}", "it has no workers")
    number(project, one, value, "prefetch_factor")


def number(project: Project, one: Found, wanted: int, name: str) -> None:
    """An integer: where it is set, or as a new argument."""
    node = one.argument(name, PLACES.get(name))
    if node is None:
        if wanted:
            add(one, name, str(wanted))
        return
    found = trace(project, one.source, node)
    if found is None or found.origin.value != found.value:
        raise one.doubt(f"{name}={wanted}", f"cannot tell where {one.source.code(node)} comes from")
    if found.value != wanted:
        write_value(project, found.origin, wanted, name)


def shuffle(project: Project, one: Found, value: str) -> None:
    if value != "shuffle":
        raise one.doubt(f"data={value}", "this is an experiment, not a fix")
    if one.argument("sampler") is not None:
        raise one.doubt("shuffle=True", "a sampler sets the order")
    node = one.argument("shuffle", PLACES["shuffle"])
    if node is None:
        add(one, "shuffle", "True")
        return
    found = trace(project, one.source, node)
    if found is None or not isinstance(found.value, bool):
        raise one.doubt("shuffle=True", f"cannot tell where {one.source.code(node)} comes from")
    if not found.value:
        write_value(project, found.origin, True, "the order")


def add(one: Found, name: str, code: str) -> None:
    if any(arg.star for arg in one.call.args):
        raise one.doubt(f"{name}={code}", "not all of its arguments are known")
    one.source.set_argument(one.call, name, code, f"{one.kind}: {name}={code}")


BATCH = Kind(edit=partial(each_loader, change=batch), interventions=("batch",))
WORKERS = Kind(
    edit=partial(each_loader, change=partial(number, name="num_workers")), interventions=("workers",)
)
PREFETCH = Kind(edit=partial(each_loader, change=prefetch), interventions=("prefetch",))
SHUFFLE = Kind(edit=partial(each_loader, change=shuffle), interventions=("data",))


@writes(fixes=("iterate-the-loader",))
def iterate_loader(project: Project, _value: str) -> None:
    back = only_backward(project)
    source, loops = back.source, back.source.loops(back.call)
    for loop in loops:
        loader = repeated_loader(source, loop.iter) if isinstance(loop, cst.For) else None
        if isinstance(loop, cst.For) and loader is not None:
            code = source.code(loader)
            says = f"iterates over {code}, and not over one batch of it"
            source.replace(loop.iter, code, says, at=loop)
            return
    drawn = drawn_once(source, loops, back)
    write = "for batch in loader: a new batch in each step"
    if drawn is None:
        raise back.doubt(write, "what repeats a batch was not found")
    if not is_shuffled(project, source, drawn):
        raise back.doubt(write, "the loader does not shuffle")
    source.remove(drawn, f"moved into the loop: {source.code(drawn)}")
    source.insert_before(inner(loops[0].body.body[0]), source.code(drawn))


def first_of(source: Source, node: cst.CSTNode) -> cst.BaseExpression | None:
    """`loader` of `next(iter(loader))`."""
    if isinstance(node, cst.Call) and dotted_name(node.func) == "next" and len(node.args) == 1:
        made = node.args[0].value
        if isinstance(made, cst.Call) and dotted_name(made.func) == "iter" and len(made.args) == 1:
            return made.args[0].value
    return None


def repeated_loader(source: Source, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`loader` of `[next(iter(loader))] * n`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return None
    listed = node.left
    if not isinstance(listed, cst.List) or len(listed.elements) != 1:
        return None
    return first_of(source, listed.elements[0].value)


def drawn_once(source: Source, loops: list[cst.For | cst.While], back: Found) -> cst.Assign | None:
    """`x, y = next(iter(loader))` before the only loop, where its names are used."""
    if len(loops) != 1 or not isinstance(loops[0].body, cst.IndentedBlock):
        return None
    found = []
    for statement in source.all(cst.Assign):
        same = source.function(statement) is source.function(back.call) and source.line(
            statement
        ) < source.line(loops[0])
        if same and first_of(source, statement.value) is not None:
            names = {
                node.value
                for t in statement.targets
                for node in leaf_nodes(t.target)
                if isinstance(node, cst.Name)
            }
            used = {n.value for n in leaf_nodes(loops[0].body) if isinstance(n, cst.Name)}
            found += [statement] if names & used else []
    return found[0] if len(found) == 1 else None


def is_shuffled(project: Project, source: Source, drawn: cst.Assign) -> bool:
    """Whether a new pass over the loader begins with another batch."""
    loader = first_of(source, drawn.value)
    home, made = resolve(project, source, loader) if loader is not None else (source, drawn)
    if not isinstance(made, cst.Call) or home.name(made.func) != LOADER:
        return False
    given = Found(home, made).argument("shuffle", 2)
    value = trace(project, home, given) if given is not None else None
    return value is not None and value.value is True
