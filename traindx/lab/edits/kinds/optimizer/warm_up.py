"""`lr.warmup=50`: a linear schedule over the first steps, for an optimizer that has none.

The fix `reduce-on-plateau` adds the schedule after each validation; `lr=plateau` cannot be tried as an
intervention."""

from traindx.lab.edits.api import (
    Found,
    Project,
    Span,
    cst,
    epochs,
    only_step,
    optax_made,
    optimizer_of,
    optimizers,
    schedules,
    validation_loss,
    warm_up_optax,
    writes,
)
from traindx.lab.edits.kinds.optimizer.learning_rate import refuse_rates_set_by_hand

WARMUP = "warmup"


@writes("lr.warmup")
def warm_up(project: Project, value: Span) -> None:
    count = steps_of(project, value)
    if optax_made(project):
        return warm_up_optax(project, count)
    made, planned = optimizers(project), schedules(project)
    if [one.target.rpartition(".")[2] for one in planned] == [WARMUP]:
        return None
    if len(made) != 1 or planned:
        why = "there is a schedule already" if planned else "there is not exactly one optimizer"
        first = next(iter([*planned, *made]), None)
        raise project.doubt(f"a linear warm-up over {count} steps before the schedule", why, first)
    refuse_rates_set_by_hand(project)
    one, step = made[0], only_step(project)
    names = schedule_at(one, step)
    if one.source.name(one.call.func).rpartition(".")[0] != "torch.optim":
        raise one.doubt("a warm-up", "cannot tell how torch.optim is imported")
    name = f"{scheduler_home(one)}.lr_scheduler.LinearLR"
    line = f"{names[0]} = {name}({one.target}, start_factor=1 / {count}, total_iters={count - 1})"
    one.source.insert_after(one.small, line, says=f"after the optimizer: {line}", at=one.call)
    stepped = f"{names[1]}.step()"
    step.source.insert_after(step.small, stepped, says=f"after the step: {stepped}", at=step.call)
    return None


def steps_of(project: Project, value: Span) -> int:
    """The number of steps over which the rate rises. A share counts against the recorded number of steps."""
    total = project.number("planned_steps") or project.number("optimizer_steps")
    if value.steps is None and total is None:
        write = f"a warm-up over {100 * value.share:.0f} % of the steps"
        raise project.doubt(write, "how many steps there are is unknown")
    count = round(value.share * (total or 0)) if value.steps is None else value.steps
    if count < 2:
        raise project.doubt("a warm-up", "the run has too few steps for one")
    return count


def schedule_at(one: Found, step: Found) -> tuple[str, str]:
    """The name of the schedule next to the optimizer, and at the step."""
    here, there = one.target, optimizer_of(step)
    same_class = one.source is step.source and one.source.owner(one.call) is step.source.owner(step.call)
    if here.startswith("self.") and there == here and same_class:
        return f"self.{WARMUP}", f"self.{WARMUP}"
    level = one.source.function(one.call)
    seen = level is None or level is step.source.function(step.call)
    if one.source is step.source and here and "." not in here and there == here and seen:
        if any(n.value == WARMUP for n in one.source.all(cst.Name)):
            raise one.doubt("a warm-up", f"the name {WARMUP} is taken")
        return WARMUP, WARMUP
    raise one.doubt("a linear warm-up, stepped after the optimizer", "the step is made elsewhere")


def scheduler_home(one: Found) -> str:
    """torch.optim as the file writes it."""
    func = one.call.func
    found = (
        one.source.code(func.value)
        if isinstance(func, cst.Attribute)
        else one.source.how_written("torch.optim", "torch")
    )
    if not found:
        raise one.doubt("a warm-up", "torch is not imported in this file")
    return found


PLATEAU = "plateau"


@writes(fixes=("reduce-on-plateau",))
def reduce_on_plateau(project: Project, _value: str) -> None:
    made, planned = optimizers(project), schedules(project)
    if any(one.kind == "ReduceLROnPlateau" for one in planned):
        return
    source, loop = epochs(project)
    if len(made) != 1 or planned or not made[0].target:
        raise source.doubt(
            loop, "ReduceLROnPlateau(optimizer)", "there is a schedule, or not exactly one optimizer"
        )
    one = made[0]
    if (
        one.source is not source
        or source.function(one.call) is not source.function(loop)
        or "." in one.target
    ):
        raise source.doubt(loop, "ReduceLROnPlateau(optimizer)", "the optimizer is made elsewhere")
    name, assigned = validation_loss(source, loop)
    source.insert_after(
        one.small,
        f"{PLATEAU} = {scheduler_home(one)}.lr_scheduler.ReduceLROnPlateau({one.target}, factor=0.5)",
    )
    line = source.parents[assigned]
    within = source.parents[source.parents[line]]
    after: cst.CSTNode = within if isinstance(within, cst.With) else assigned
    says = f"the rate is halved when {name} no longer falls"
    source.insert_after(after, f"{PLATEAU}.step({name})", says=says, at=assigned)
