"""`lr.warmup=50`: a linear schedule over the first steps, for an optimizer that has none."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.optimizer.learning_rate import by_hand
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import Found, optimizer_of, optimizers, schedules, the_step

NAME = "warmup"


def edit(project: Project, value: str) -> None:
    count = steps_of(project, value)
    made, planned = optimizers(project), schedules(project)
    if [one.target.rpartition(".")[2] for one in planned] == [NAME]:
        return
    if len(made) != 1 or planned:
        why = "there is a schedule already" if planned else "there is not one optimizer"
        first = next(iter([*planned, *made]), None)
        raise NotCertain(
            f"a linear warm-up over {count} steps in front of the schedule", why,
            first.source.path if first else project.script, first.line if first else 0,
        )  # fmt: skip
    by_hand(project)
    one, step = made[0], the_step(project)
    beside = schedule_at(one, step)
    scheduler = one.source.name(one.call.func).rpartition(".")[0]
    if scheduler != "torch.optim":
        raise NotCertain(
            "a warm-up", "how torch.optim is imported is not certain", one.source.path, one.line
        )
    name = f"{home(one)}.lr_scheduler.LinearLR"
    line = f"{beside[0]} = {name}({one.target}, start_factor=1 / {count}, total_iters={count - 1})"
    one.source.insert_after(one.small, line)
    step.source.insert_after(step.small, f"{beside[1]}.step()")
    project.say(one.source, one.line, f"after the optimizer: {line}")
    project.say(step.source, step.line, f"after the step: {beside[1]}.step()")


def steps_of(project: Project, value: str) -> int:
    """The number of steps that the rate rises in; a share is one of the steps that were recorded."""
    number = float(value)
    total = project.number("planned_steps") or project.number("optimizer_steps")
    if number < 1 and total is None:
        raise NotCertain(
            f"a warm-up over {number:.0%} of the steps", "how many there are is not known", project.script
        )
    count = round(number if number >= 1 else number * (total or 0))
    if count < 2:
        raise NotCertain("a warm-up", "the run has too few steps for one", project.script)
    return count


def schedule_at(one: Found, step: Found) -> tuple[str, str]:
    """What the schedule is called beside the optimizer, and at the step."""
    here, there = one.target, optimizer_of(step)
    same_class = one.source is step.source and one.source.owner(one.call) is step.source.owner(step.call)
    if here.startswith("self.") and there == here and same_class:
        return f"self.{NAME}", f"self.{NAME}"
    level = one.source.function(one.call)
    seen = level is None or level is step.source.function(step.call)
    if one.source is step.source and here and "." not in here and there == here and seen:
        if any(n.value == NAME for n in one.source.all(cst.Name)):
            raise NotCertain("a warm-up", f"the name {NAME} is taken", one.source.path, one.line)
        return NAME, NAME
    raise NotCertain(
        "a linear warm-up, stepped after the optimizer",
        "the step stands elsewhere",
        one.source.path,
        one.line,
    )


def home(one: Found) -> str:
    """torch.optim as the file spells it."""
    func = one.call.func
    if isinstance(func, cst.Attribute):
        return one.source.code(func.value)
    torch = [n for n, full in one.source.names.items() if full == "torch" and isinstance(n, cst.Name)]
    if not torch:
        raise NotCertain("a warm-up", "torch is not imported in this file", one.source.path, one.line)
    return f"{torch[0].value}.optim"


KIND = Kind(edit=edit, interventions=("lr.warmup",))
