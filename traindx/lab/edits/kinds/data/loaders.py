"""Arguments of the loaders that are trained from: `batch=32`, `batch=*4`, `workers=4`, `prefetch=4`, `data=shuffle`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.origins import put, trace
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import with_argument
from traindx.lab.edits.training import Found, training_loaders
from traindx.lab.edits.values import scaled_or_set

PLACES = {"batch_size": 1, "shuffle": 2, "num_workers": 5}


def each(project: Project, value: str, change: Callable[[Project, Found, str], None]) -> None:
    found = training_loaders(project)
    if not found:
        raise NotCertain(
            f"{value} for the training loader", "the training DataLoader was not found", project.script
        )
    for one in found:
        if one.given("batch_sampler") is not None:
            raise NotCertain(value, "a sampler makes its batches", one.source.path, one.line)
        change(project, one, value)


def batch(project: Project, one: Found, value: str) -> None:
    given = scaled_or_set(value)
    node = one.given("batch_size", PLACES["batch_size"])
    if given is None or node is None:
        raise NotCertain(f"batch_size {value}", "it has no batch size", one.source.path, one.line)
    found = trace(project, one.source, node)
    if found is None or isinstance(found.value, (str, bool)) or not found.linear:
        why = f"where {one.source.code(node)} comes from is not certain"
        raise NotCertain(f"batch_size {value}", why, one.source.path, one.line)
    recorded = project.number("batch_size") or float(found.value)
    wanted = max(1, round(recorded * given[1] if given[0] == "*" else given[1]))
    if found.value == wanted:
        return
    if found.value != recorded:
        why = f"the source says {found.value} where {recorded:g} was recorded"
        raise NotCertain(f"batch_size={wanted}", why, one.source.path, one.line)
    put(project, found.origin, round(found.origin.value * wanted / found.value), "the batch size")


def workers(project: Project, one: Found, value: str) -> None:
    number(project, one, "num_workers", int(value))


def prefetch(project: Project, one: Found, value: str) -> None:
    if one.given("num_workers", PLACES["num_workers"]) is None:
        raise NotCertain(
            f"num_workers=2, prefetch_factor={value}", "it has no workers", one.source.path, one.line
        )
    number(project, one, "prefetch_factor", int(value))


def number(project: Project, one: Found, name: str, wanted: int) -> None:
    """A whole number: where it stands, or as a new argument."""
    node = one.given(name, PLACES.get(name))
    if node is None:
        if wanted:
            add(project, one, name, str(wanted))
        return
    found = trace(project, one.source, node)
    if found is None or found.origin.value != found.value:
        why = f"where {one.source.code(node)} comes from is not certain"
        raise NotCertain(f"{name}={wanted}", why, one.source.path, one.line)
    if found.value != wanted:
        put(project, found.origin, wanted, name)


def shuffle(project: Project, one: Found, value: str) -> None:
    if value != "shuffle":
        raise NotCertain(f"data={value}", "this is an experiment, and no fix", one.source.path, one.line)
    if one.given("sampler") is not None:
        raise NotCertain("shuffle=True", "a sampler gives the order", one.source.path, one.line)
    node = one.given("shuffle", PLACES["shuffle"])
    if node is None:
        add(project, one, "shuffle", "True")
        return
    found = trace(project, one.source, node)
    if found is None or not isinstance(found.value, bool):
        why = f"where {one.source.code(node)} comes from is not certain"
        raise NotCertain("shuffle=True", why, one.source.path, one.line)
    if not found.value:
        put(project, found.origin, True, "the order")


def add(project: Project, one: Found, name: str, code: str) -> None:
    if any(arg.star for arg in one.call.args):
        raise NotCertain(f"{name}={code}", "its arguments are not all known", one.source.path, one.line)
    one.source.change(one.call, lambda call: with_argument(call, name, code))
    project.say(one.source, one.line, f"DataLoader: {name}={code}")


BATCH = Kind(edit=partial(each, change=batch), interventions=("batch",))
WORKERS = Kind(edit=partial(each, change=workers), interventions=("workers",))
PREFETCH = Kind(edit=partial(each, change=prefetch), interventions=("prefetch",))
SHUFFLE = Kind(edit=partial(each, change=shuffle), interventions=("data",))
