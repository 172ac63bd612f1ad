"""Arguments of the training loaders: `batch=32`, `batch=*4`, `workers=4`, `prefetch=4`, `data=shuffle`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.origins import certain, put, trace
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, with_argument
from traindx.lab.edits.training import training_loaders
from traindx.lab.edits.values import scaled_or_set

PLACES = {"batch_size": 1, "shuffle": 2, "num_workers": 5}


def each(project: Project, value: str, change: Callable[[Project, Found, str], None]) -> None:
    found = training_loaders(project)
    if not found:
        raise project.doubt(f"{value} for the training loader", "the training DataLoader was not found")
    for one in found:
        if one.given("batch_sampler") is not None:
            raise one.doubt(value, "a batch sampler makes its batches")
        change(project, one, value)


def batch(project: Project, one: Found, value: str) -> None:
    given = scaled_or_set(value)
    node = one.given("batch_size", PLACES["batch_size"])
    if given is None or node is None:
        raise one.doubt(f"batch_size {value}", "it has no batch size")
    found = certain(project, one.source, node, f"batch_size {value}", one.call)
    recorded = project.number("batch_size") or float(found.value)
    wanted = max(1, round(recorded * given[1] if given[0] == "*" else given[1]))
    if found.value == wanted:
        return
    if found.value != recorded:
        why = f"the source sets {found.value}, but {recorded:g} was recorded"
        raise one.doubt(f"batch_size={wanted}", why)
    put(project, found.origin, round(found.origin.value * wanted / found.value), "the batch size")


def workers(project: Project, one: Found, value: str) -> None:
    number(project, one, "num_workers", int(value))


def prefetch(project: Project, one: Found, value: str) -> None:
    if one.given("num_workers", PLACES["num_workers"]) is None:
        raise one.doubt(f"num_workers=2, prefetch_factor={value}", "it has no workers")
    number(project, one, "prefetch_factor", int(value))


def number(project: Project, one: Found, name: str, wanted: int) -> None:
    """An integer: where it is set, or as a new argument."""
    node = one.given(name, PLACES.get(name))
    if node is None:
        if wanted:
            add(project, one, name, str(wanted))
        return
    found = trace(project, one.source, node)
    if found is None or found.origin.value != found.value:
        raise one.doubt(f"{name}={wanted}", f"cannot tell where {one.source.code(node)} comes from")
    if found.value != wanted:
        put(project, found.origin, wanted, name)


def shuffle(project: Project, one: Found, value: str) -> None:
    if value != "shuffle":
        raise one.doubt(f"data={value}", "this is an experiment, not a fix")
    if one.given("sampler") is not None:
        raise one.doubt("shuffle=True", "a sampler sets the order")
    node = one.given("shuffle", PLACES["shuffle"])
    if node is None:
        add(project, one, "shuffle", "True")
        return
    found = trace(project, one.source, node)
    if found is None or not isinstance(found.value, bool):
        raise one.doubt("shuffle=True", f"cannot tell where {one.source.code(node)} comes from")
    if not found.value:
        put(project, found.origin, True, "the order")


def add(project: Project, one: Found, name: str, code: str) -> None:
    if any(arg.star for arg in one.call.args):
        raise one.doubt(f"{name}={code}", "not all of its arguments are known")
    one.source.change(one.call, lambda call: with_argument(call, name, code))
    project.say(one.source, one.line, f"DataLoader: {name}={code}")


BATCH = Kind(edit=partial(each, change=batch), interventions=("batch",))
WORKERS = Kind(edit=partial(each, change=workers), interventions=("workers",))
PREFETCH = Kind(edit=partial(each, change=prefetch), interventions=("prefetch",))
SHUFFLE = Kind(edit=partial(each, change=shuffle), interventions=("data",))
