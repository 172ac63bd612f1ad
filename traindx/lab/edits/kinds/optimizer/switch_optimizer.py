"""`optimizer=adamw`, `adam`, `sgd`, `momentum`: another class with the rate and the weight decay as they
are."""

from functools import partial

from traindx.lab.edits.api import (
    Found,
    Project,
    class_of,
    cst,
    optax_made,
    optimizers,
    switch_optax,
    with_argument,
    without_argument,
    writes,
)
from traindx.lab.edits.kinds.optimizer.learning_rate import DEFAULTS

CLASSES = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD", "momentum": "SGD"}
KEPT = ("params", "lr", "weight_decay")
OWN = ("momentum", "nesterov", "dampening", "betas", "eps", "amsgrad", "alpha", "centered", "lr_decay",
       "rho", "fused",
       "etas", "step_sizes", "initial_accumulator_value", "decoupled_weight_decay", "foreach",
       "maximize")  # fmt: skip


@writes("optimizer")
def switch_optimizer(project: Project, value: str) -> None:
    if optax_made(project):
        return switch_optax(project, value)
    wanted = CLASSES[value]
    made = optimizers(project)
    if not made:
        raise project.doubt(f"optimizer={value}", "no optimizer was found")
    for one in made:
        if class_of(one, f"{wanted}(...)") == "LBFGS":
            raise one.doubt(f"{wanted}(...)", "LBFGS is stepped differently")
        if not is_done(one, value, wanted):
            switch(one, value, wanted)
    return None


def is_done(one: Found, value: str, wanted: str) -> bool:
    """Whether it is such an optimizer already."""
    moves = one.argument("momentum", 2)
    return one.kind == wanted and (wanted != "SGD" or (moves is not None) == (value == "momentum"))


def switch(one: Found, value: str, wanted: str) -> None:
    source, call = one.source, one.call
    places = [arg for arg in call.args if arg.keyword is None]
    unknown = [
        a.keyword.value for a in call.args if a.keyword is not None and a.keyword.value not in (*KEPT, *OWN)
    ]
    if len(places) > 2 or unknown or any(arg.star for arg in call.args):
        raise one.doubt(f"{wanted}(...)", "not all of its arguments are known")
    betas = one.argument("betas") if one.kind in ("Adam", "AdamW") and wanted in ("Adam", "AdamW") else None
    dropped = [
        name
        for name in OWN
        if one.argument(name) is not None and not (name in ("betas", "eps") and betas is not None)
    ]
    added = []
    if one.argument("lr", 1) is None and DEFAULTS.get(one.kind) != DEFAULTS.get(wanted):
        added.append(("lr", f"{DEFAULTS[one.kind]:g}"))
    if wanted == "AdamW" and one.kind != "AdamW" and one.argument("weight_decay") is None:
        added.append(("weight_decay", "0.0"))
    if one.kind == "AdamW" and wanted != "AdamW" and one.argument("weight_decay") is None:
        added.append(("weight_decay", "0.01"))
    if value == "momentum":
        added.append(("momentum", "0.9"))
    for name in dropped:
        source.change(call, partial(without_argument, name=name))
    for name, code in added:
        source.change(call, partial(with_argument, name=name, code=code))
    rename(one, wanted)
    source.say(call, f"{one.kind} becomes {wanted}")


def rename(one: Found, wanted: str) -> None:
    """The class by its name in this file."""
    source, func = one.source, one.call.func
    if isinstance(func, cst.Attribute):
        source.rename(func, wanted)
        return
    for statement in source.all(cst.ImportFrom):
        if (
            isinstance(statement.names, cst.ImportStar)
            or source.code(statement.module or func) != "torch.optim"
        ):
            continue
        alias = next(
            (a for a in statement.names if isinstance(a.name, cst.Name) and a.name.value == one.kind), None
        )
        if alias is None or alias.asname is not None:
            continue
        uses = [n for n in source.all(cst.Name) if n.value == one.kind and n is not alias.name]
        known = any(isinstance(a.name, cst.Name) and a.name.value == wanted for a in statement.names)
        if not known and len(uses) == 1:
            source.change(alias, lambda node: node.with_changes(name=cst.Name(wanted)))
        elif not known:
            source.change(statement, partial(with_import, name=wanted))
        source.change(func, lambda _: cst.Name(wanted))
        return
    raise one.doubt(f"{wanted}(...)", f"cannot tell how {one.kind} got its name")


def with_import(statement: cst.ImportFrom, name: str) -> cst.ImportFrom:
    """The import with one more name."""
    if isinstance(statement.names, cst.ImportStar):
        return statement
    *rest, last = statement.names
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return statement.with_changes(
        names=[*rest, last.with_changes(comma=comma), cst.ImportAlias(cst.Name(name))]
    )
