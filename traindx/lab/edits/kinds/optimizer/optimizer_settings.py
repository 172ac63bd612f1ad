"""Settings of the optimizer other than the rate: `weight_decay=0.01`, `weight_decay=*3`, `momentum=0.9`,
`betas=0.9,0.95`, `eps=1e-8`, where they are set, or as a new argument of the optimizer."""

from functools import partial
from typing import Any

from traindx.lab.edits.api import (
    Change,
    Found,
    Kind,
    Project,
    certain_value,
    class_of,
    cst,
    entries_of,
    is_close,
    optax_made,
    optimizers,
    set_optax,
    words_of,
    write_value,
)

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


def edit(project: Project, value: Any, name: str) -> None:
    if optax_made(project):
        return set_optax(project, name, value)
    made = optimizers(project)
    if not made:
        raise project.doubt(f"{name}={value}", "no optimizer was found")
    for one in made:
        if class_of(one, f"{name}={value}") not in HAVE[name]:
            raise one.doubt(f"{name}={value}", f"{one.kind} has no {name}")
        write_setting(project, one, name, value)
    return None


def write_setting(project: Project, one: Found, name: str, value: Any) -> None:
    """Write the setting of one optimizer."""
    if name == "betas":
        return write(one, name, str(value))
    change = value if isinstance(value, Change) else Change(value, False)
    node = one.argument(name, PLACES.get((one.kind, name)))
    grouped, every = group_values(one, name)
    if node is None and not grouped:
        default = BY_DEFAULT.get(name, {}).get(one.kind, 0.0)
        wanted = change.apply_to(default)
        return write(one, name, words_of(wanted)) if wanted != default else None
    nodes = grouped if node is None or every else [node, *grouped]
    values = [certain_value(project, one.source, each, f"{name}={value}", one.call) for each in nodes]
    changing = [found for found in values if found.value != 0] or values  # groups set to 0 stay at 0
    recorded, highest = project.number(name), max(found.value for found in values)
    factor = change.number
    if not change.relative:
        factor = change.number / highest if highest else 1.0
    elif recorded and is_close(highest, recorded * factor):
        return None  # it has the value already
    if recorded is not None and not is_close(highest, recorded) and not is_close(highest, change.number):
        raise one.doubt(f"{name} {value}", f"the source sets {highest:g}, but {recorded:g} was recorded")
    for found in changing:
        wanted = found.origin.value * factor if found.value else change.number
        if wanted != found.origin.value:
            write_value(project, found.origin, wanted, name)
    return None


def write(one: Found, name: str, code: str) -> None:
    """A setting as an expression: a new argument, or in place of the old one."""
    place = PLACES.get((one.kind, name))
    node = one.argument(name, place)
    old = one.source.code(node) if node is not None else ""
    if old.replace(" ", "") == code.replace(" ", ""):
        return
    if node is not None and not isinstance(node, (cst.Tuple, cst.Float, cst.Integer)):
        raise one.doubt(f"{name}={code}", f"cannot tell where {old} comes from")
    one.source.set_argument(one.call, name, code, f"{one.kind}: {name}={code}", place)


def group_values(one: Found, name: str) -> tuple[list[cst.BaseExpression], bool]:
    """The values of parameter groups: `{"params": ..., "weight_decay": 0.0}`, and whether each group has
    one. Raises NotCertain where only some groups have one, and the others the optimizer's default."""
    params = one.argument("params", 0)
    groups = [
        node for node in one.source.all(cst.Dict) if params is not None and one.source.inside(node, params)
    ]
    found = entries_of(one.source, name, params)
    if found and len(found) < len(groups) and one.argument(name) is None:
        raise one.doubt(f"{name} of each group", "only some of its parameter groups set a value")
    return found, bool(found) and len(found) == len(groups)


def setting(name: str) -> Kind:
    return Kind(edit=partial(edit, name=name), interventions=(name,))


WEIGHT_DECAY, MOMENTUM, BETAS, EPS = map(setting, HAVE)
