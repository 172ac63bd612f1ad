"""Settings of the step beside the rate: `weight_decay=0.01`, `weight_decay=*3`, `momentum=0.9`, `betas=0.9,0.95`,
`eps=1e-8`, where they stand, or as a new argument of the optimizer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import libcst as cst

from traindx.edits.kind import Kind
from traindx.edits.origins import put, trace, words_of
from traindx.edits.project import NotCertain, Project
from traindx.edits.source import with_argument
from traindx.edits.training import Found, optimizers
from traindx.edits.words import scaled_or_set

ADAMS = ("Adam", "AdamW", "NAdam", "RAdam", "Adamax")
HAVE = {
    "weight_decay": (*ADAMS, "SGD", "RMSprop", "Adagrad", "Adadelta", "ASGD"),
    "momentum": ("SGD", "RMSprop"),
    "betas": ADAMS,
    "eps": (*ADAMS, "RMSprop", "Adagrad", "Adadelta"),
}
BY_DEFAULT = {"weight_decay": {"AdamW": 0.01}, "momentum": {}}
PLACES = {("SGD", "momentum"): 2, ("SGD", "weight_decay"): 4, **{(kind, "betas"): 2 for kind in ADAMS},
          **{(kind, "eps"): 3 for kind in ADAMS}, **{(kind, "weight_decay"): 4 for kind in ADAMS}}  # fmt: skip


def edit(project: Project, value: str, name: str) -> None:
    made = optimizers(project)
    if not made:
        raise NotCertain(f"{name}={value}", "no optimizer was found", project.script)
    for one in made:
        if one.kind not in HAVE[name]:
            raise NotCertain(f"{name}={value}", f"{one.kind} has no {name}", one.source.path, one.line)
        if in_group(one, name):
            why = "its parameter groups have values of their own"
            raise NotCertain(f"{name}={value}", why, one.source.path, one.line)
        place(project, one, name, value)


def place(project: Project, one: Found, name: str, value: str) -> None:
    """The setting of one optimizer."""
    if name == "betas":
        return write(project, one, name, "({}, {})".format(*(float(part) for part in value.split(","))))
    given = scaled_or_set(value)
    if given is None:
        raise NotCertain(f"{name}={value}", "no such value", one.source.path, one.line)
    node = one.given(name, PLACES.get((one.kind, name)))
    if node is None:
        default = BY_DEFAULT.get(name, {}).get(one.kind, 0.0)
        wanted = default * given[1] if given[0] == "*" else given[1]
        return write(project, one, name, words_of(wanted)) if wanted != default else None
    found = trace(project, one.source, node)
    if found is None or not found.linear or isinstance(found.value, (str, bool)) or found.value == 0 != given[1]:
        if found is None or given[0] == "*" or found.origin.node is not node:
            why = f"where {one.source.code(node)} comes from is not certain"
            raise NotCertain(f"{name}={value}", why, one.source.path, one.line)
        return put(project, found.origin, given[1], name)
    recorded = project.number(name)
    base = recorded if recorded is not None else found.value
    wanted = base * given[1] if given[0] == "*" else given[1]
    if abs(found.value - wanted) <= 1e-9 * abs(wanted):
        return None
    if abs(found.value - base) > 1e-6 * abs(base):
        why = f"the source says {found.value:g} where {base:g} was recorded"
        raise NotCertain(f"{name}={words_of(wanted)}", why, one.source.path, one.line)
    return put(project, found.origin, found.origin.value * wanted / found.value if found.value else wanted, name)


def write(project: Project, one: Found, name: str, code: str) -> None:
    """A setting as an expression: a new argument, or in the place of the old."""
    node = one.given(name, PLACES.get((one.kind, name)))
    if node is None:
        one.source.change(one.call, lambda call: with_argument(call, name, code))
    elif one.source.code(node).replace(" ", "") == code.replace(" ", ""):
        return
    elif isinstance(node, (cst.Tuple, cst.Float, cst.Integer)):
        one.source.replace(node, code)
    else:
        why = f"where {one.source.code(node)} comes from is not certain"
        raise NotCertain(f"{name}={code}", why, one.source.path, one.line)
    project.say(one.source, one.line, f"{one.kind}: {name}={code}")


def in_group(one: Found, name: str) -> bool:
    """Whether parameter groups set it: `{"params": ..., "weight_decay": 0.0}`."""
    params = one.given("params", 0)
    return any(
        isinstance(entry.key, cst.SimpleString) and entry.key.evaluated_value == name
        for entry in one.source.all(cst.DictElement)
        if params is not None and one.source.inside(entry, params)
    )


def setting(name: str) -> Callable[[Project, str], None]:
    return partial(edit, name=name)


KIND = Kind(edit=setting("weight_decay"), interventions=("weight_decay",))
