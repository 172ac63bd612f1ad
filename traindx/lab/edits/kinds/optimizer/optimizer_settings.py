"""Settings of the step beside the rate: `weight_decay=0.01`, `weight_decay=*3`, `momentum=0.9`, `betas=0.9,0.95`,
`eps=1e-8`, where they stand, or as a new argument of the optimizer."""

from __future__ import annotations

from functools import partial

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.origins import Value, put, trace, words_of
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import with_argument
from traindx.lab.edits.training import Found, optimizers
from traindx.lab.edits.values import scaled_or_set

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
        place(project, one, name, value)


def place(project: Project, one: Found, name: str, value: str) -> None:
    """The setting of one optimizer."""
    if name == "betas":
        return write(project, one, name, "({}, {})".format(*(float(part) for part in value.split(","))))
    given = scaled_or_set(value)
    if given is None:
        raise NotCertain(f"{name}={value}", "no such value", one.source.path, one.line)
    node = one.given(name, PLACES.get((one.kind, name)))
    grouped, every = in_groups(one, name)
    if node is None and not grouped:
        default = BY_DEFAULT.get(name, {}).get(one.kind, 0.0)
        wanted = default * given[1] if given[0] == "*" else given[1]
        return write(project, one, name, words_of(wanted)) if wanted != default else None
    nodes = grouped if node is None or every else [node, *grouped]
    values = [traced(project, one, name, value, each) for each in nodes]
    kept_free = [
        found for found in values if found.value != 0
    ] or values  # groups that have none stay without
    recorded, highest = project.number(name), max(found.value for found in values)
    factor = given[1]
    if given[0] == "=":
        factor = given[1] / highest if highest else 1.0
    elif recorded and close(highest, recorded * factor):
        return None  # it is as asked already
    if recorded is not None and not close(highest, recorded) and not close(highest, given[1]):
        why = f"the source says {highest:g} where {recorded:g} was recorded"
        raise NotCertain(f"{name} {value}", why, one.source.path, one.line)
    for found in kept_free:
        wanted = found.origin.value * factor if found.value else given[1]
        if wanted != found.origin.value:
            put(project, found.origin, wanted, name)
    return None


def close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))  # the rounding of what was recorded


def traced(project: Project, one: Found, name: str, value: str, node: cst.BaseExpression) -> Value:
    """A value that stands in the source, and where."""
    found = trace(project, one.source, node)
    if found is None or not found.linear or isinstance(found.value, (str, bool)):
        why = f"where {one.source.code(node)} comes from is not certain"
        raise NotCertain(f"{name}={value}", why, one.source.path, one.line)
    return found


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


def in_groups(one: Found, name: str) -> tuple[list[cst.BaseExpression], bool]:
    """The values of parameter groups: `{"params": ..., "weight_decay": 0.0}`, and whether each has one.
    Raises NotCertain where only some groups have one, and the others the optimizer's default."""
    params = one.given("params", 0)
    groups = [
        node for node in one.source.all(cst.Dict) if params is not None and one.source.inside(node, params)
    ]
    found = [
        entry.value
        for group in groups
        for entry in group.elements
        if isinstance(entry, cst.DictElement)
        and isinstance(entry.key, cst.SimpleString) and entry.key.evaluated_value == name
    ]  # fmt: skip
    if found and len(found) < len(groups) and one.given(name) is None:
        why = "some of its parameter groups have values of their own"
        raise NotCertain(f"{name} of each group", why, one.source.path, one.line)
    return found, bool(found) and len(found) == len(groups)


def setting(name: str) -> Kind:
    return Kind(edit=partial(edit, name=name), interventions=(name,))


WEIGHT_DECAY, MOMENTUM, BETAS, EPS = map(setting, HAVE)
