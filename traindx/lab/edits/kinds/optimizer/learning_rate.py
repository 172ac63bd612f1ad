"""The learning rate: `lr=*0.1` and `lr=0.01` at the literal, constant, default or configuration that sets
it.

Every optimizer is changed, and every absolute rate of a schedule with it, so that the schedule keeps its
shape. The source must set what was recorded. Otherwise something between them sets the rate.

Schedules: one that counts epochs but is stepped for each batch is stepped at the end of the epoch instead
(fix `repair-schedule`). With `lr=constant` none is stepped."""

import re

from traindx.lab.edits.api import (
    KERAS,
    Change,
    Found,
    Project,
    Schedule,
    Source,
    Value,
    backwards,
    constant_rate,
    cst,
    entries_of,
    hand_written_rates,
    has_star,
    is_close,
    keras_made,
    only_setting,
    optax_made,
    optax_rates,
    optimizers,
    overriding_option,
    schedules,
    trace,
    write_value,
    writes,
)

DEFAULTS = {"Adam": 1e-3, "AdamW": 1e-3, "NAdam": 2e-3, "RAdam": 1e-3, "Adamax": 2e-3, "RMSprop": 1e-2,
            "SGD": 1e-3,
            "Adagrad": 1e-2, "Adadelta": 1.0, "Rprop": 1e-2, "LBFGS": 1.0, "ASGD": 1e-2}  # fmt: skip
IN_SCHEDULES = {"OneCycleLR": (("max_lr", 1),), "CyclicLR": (("base_lr", 1), ("max_lr", 2)),
                "CosineAnnealingLR": (("eta_min", 2),), "CosineAnnealingWarmRestarts": (("eta_min", 3),),
                "ReduceLROnPlateau": (("min_lr", None),), "LambdaLR": (), "StepLR": (), "MultiStepLR": (),
                "LinearLR": (), "ConstantLR": (), "ExponentialLR": (), "PolynomialLR": (),
                "MultiplicativeLR": (),
                "SequentialLR": (), "ChainedScheduler": ()}  # fmt: skip
ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")


@writes("lr")
def set_rate(project: Project, value: Change | Schedule) -> None:
    if isinstance(value, Schedule):
        if value.name != "constant":
            raise project.doubt(
                f"a {value.name} schedule of the learning rate", "this edit does not write it"
            )
        return constant(project)
    uses = rates(project)
    if not uses:
        raise project.doubt(f"lr {value}", "nothing was found that sets the learning rate")
    values = [trace_value(project, value, *use) for use in uses]
    factor = factor_for(project, value, values[0], uses[0])
    for found, (source, node) in zip(values, uses, strict=True):
        old = float(found.origin.value)
        if old == 0.0 or factor == 1.0:
            continue  # a schedule that ends at a rate of 0 still does
        if not found.linear:
            raise source.doubt(
                node, f"{source.code(node)} * {factor:g}", "the rate is computed from several numbers"
            )
        given = bool(overriding_option(project, found.origin))
        write_value(
            project,
            found.origin,
            (project.number("lr") or old if given else old) * factor,
            "the learning rate",
        )
    return None


def factor_for(project: Project, value: Change, first: Value, use: tuple[Source, cst.CSTNode]) -> float:
    """The factor for the rates; 1 where they have been changed already. `first` is the highest rate."""
    source, node = use
    try:
        base, written = project.number("lr"), float(first.value)
    except OverflowError as error:  # an integer of hundreds of digits
        raise source.doubt(
            node, f"lr={value}", "the rate is larger than any number that a training can use"
        ) from error
    if base is not None and overriding_option(project, first.origin):
        written = base
    factor = value.number if value.relative else value.number / written
    shown = [written * share for share in (1.0, *starting_shares(project))]
    if base is None or factor == 1.0 or any(is_close(base, one) for one in shown):
        return factor
    if value.relative and any(is_close(base * factor, one) for one in shown):
        return 1.0
    raise source.doubt(
        node,
        f"the learning rate becomes {base * factor:g}",
        f"the source sets {written:g}, but {base:g} was recorded",
    )


def starting_shares(project: Project) -> list[float]:
    """The shares of their highest rate that schedules start with, because that first rate is what was
    recorded."""
    shares = []
    for one in schedules(project):
        if one.kind == "OneCycleLR":
            node = one.argument("div_factor", 6)
            found = trace(project, one.source, node) if node is not None else None
            shares.append(1.0 / float(found.value if found is not None else 25.0))
        if one.kind == "CyclicLR":
            low, high = (
                trace(project, one.source, n)
                for n in (one.argument("base_lr", 1), one.argument("max_lr", 2))
                if n
            )
            shares += [low.value / high.value] if low is not None and high is not None else []
    return shares


def rates(project: Project) -> list[tuple[Source, cst.CSTNode]]:
    """The expressions that set rates: those of optimizers first, unless a schedule overrides them."""
    made = optimizers(project)
    planned = schedules(project)
    refuse_rates_set_by_hand(project)
    uses: list[tuple[Source, cst.CSTNode]] = []
    peaks = [use for one in planned for use in schedule_rates(one)]
    overridden = any(one.kind in ("OneCycleLR", "CyclicLR") for one in planned)
    for one in made:
        rate = one.argument("lr", 1)
        if rate is None and has_star(one.call) and not overridden:
            raise one.doubt("another lr", "cannot tell which of its packed arguments holds the rate")
        if rate is None and not overridden:
            default = DEFAULTS.get(one.kind)
            written = f"lr={default:g} times the factor" if default else "an lr"
            raise one.doubt(f"{one.kind}(..., {written})", "the optimizer's default rate is used")
        uses += [(one.source, rate)] if rate is not None and not overridden else []
        uses += [(one.source, rate) for rate in entries_of(one.source, "lr", one.argument("params", 0))]
    for source in project.sources:
        calls = [Found(source, call) for call in source.calls()]
        found = [one.argument("learning_rate") for one in calls if source.name(one.call.func) in ARGUMENTS]
        found += [one.argument("learning_rate", 0) for one in calls if KERAS in source.name(one.call.func)]
        uses += [(source, rate) for rate in found if rate is not None]
    uses += optax_rates(project)
    uses = uses or hand_written_rates(project)
    return [*peaks, *uses] if overridden else [*uses, *peaks]


def schedule_rates(one: Found) -> list[tuple[Source, cst.CSTNode]]:
    """The absolute rates of a schedule, the highest first. An unknown schedule could hold more."""
    if one.kind not in IN_SCHEDULES:
        raise one.doubt(
            "the learning rate, and the rates of its schedule",
            f"it is not known how {one.kind} changes the rate",
        )
    given = [one.argument(name, place) for name, place in reversed(IN_SCHEDULES[one.kind])]
    return [(one.source, rate) for rate in given if rate is not None]


def refuse_rates_set_by_hand(project: Project) -> None:
    """Refuse where the script sets rates itself: `group["lr"] = ...`."""
    for source in project.sources:
        for target in source.all(cst.AssignTarget):
            node = target.target
            if (
                isinstance(node, cst.Subscript)
                and source.code(node).endswith(('["lr"]', "['lr']"))
                and is_group(source, node.value)
            ):
                raise source.doubt(
                    node,
                    "the same factor in what is assigned here",
                    "the script sets the rate of each step itself",
                )


def is_group(source: Source, node: cst.BaseExpression) -> bool:
    """Whether an expression is a parameter group of an optimizer, and not a dict of settings."""
    name, groups = source.code(node), ".param_groups"
    loops = [one for one in source.all(cst.For) if groups in source.code(one.iter)]
    assigned = [one for one in source.all(cst.Assign) if groups in source.code(one.value)]
    return (
        groups in name
        or any(name in re.findall(r"\w+", source.code(one.target)) for one in loops)
        or any(source.code(target.target) == name for one in assigned for target in one.targets)
    )


def trace_value(project: Project, value: Change, source: Source, node: cst.CSTNode) -> Value:
    found = trace(project, source, node) or only_setting(project, node)
    if found is None or isinstance(found.value, (str, bool)):
        base = project.number("lr")
        write = "another learning rate" if base is None else f"a learning rate of {value.apply_to(base):.4g}"
        raise source.doubt(node, write, f"cannot tell where {source.code(node)} comes from")
    return found


PER_EPOCH = (
    "StepLR",
    "MultiStepLR",
    "ExponentialLR",
    "CosineAnnealingLR",
    "ReduceLROnPlateau",
    "CosineAnnealingWarmRestarts",
)


STARTING = (*PER_EPOCH, "PolynomialLR")  # start at the optimizer's own rate


@writes(fixes=("repair-schedule",))
def repair_schedule(project: Project, _value: str) -> None:
    made = [one for one in schedules(project) if one.kind in PER_EPOCH]
    moved = [move(project, step) for step in steps_of(project, made)]
    if not any(moved):
        write = "a schedule whose length fits the number of steps that it makes"
        raise project.doubt(write, "what is wrong with it is not seen here", made[0] if made else None)


def steps_of(project: Project, made: list[Found]) -> list[Found]:
    """The calls that step these schedules."""
    names = {one.target.rpartition(".")[2] for one in made}
    return [
        one
        for one in project.methods("step")
        if isinstance(one.call.func, cst.Attribute)
        and one.source.code(one.call.func.value).rpartition(".")[2] in names
    ]


def constant(project: Project) -> None:
    """Do not step any schedule."""
    if optax_made(project) or keras_made(project):
        return constant_rate(project)
    made = schedules(project)
    other = next((one for one in made if one.kind not in STARTING), None)
    if not made or other is not None:
        why = f"{other.kind} does not start at the optimizer's rate" if other else "no schedule was found"
        raise project.doubt("a constant learning rate", why, other)
    for step in steps_of(project, made):
        code = step.source.code(step.call)
        step.source.remove(step.statement(f"without {code}", "the step"), f"removed: {code}", at=step.call)
    return None


def move(project: Project, step: Found) -> bool:
    """Take a step out of the loop of batches to the end of the epoch, if it is in there."""
    source = step.source
    loops = source.loops(step.call)
    with_batches = [
        loop
        for loop in loops[:1]
        if any(b.source is source and source.inside(b.call, loop) for b in backwards(project))
    ]
    if not with_batches or len(loops) < 2:
        return False
    if not source.alone(step.small) or not isinstance(step.small, cst.Expr) or step.call.args:
        raise step.doubt(f"{source.code(step.call)} once an epoch", "it is not a separate statement")
    body = loops[0].body
    direct = isinstance(body, cst.IndentedBlock) and source.parents[source.parents[step.small]] is body
    if not direct:
        raise step.doubt(f"{source.code(step.call)} once an epoch", "it is stepped on a condition")
    source.remove(step.small)
    code = source.code(step.call)
    source.insert_after(loops[0], code, says=f"{code}: after the loop of batches", at=step.call)
    return True
