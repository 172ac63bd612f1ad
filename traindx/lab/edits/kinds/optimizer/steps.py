"""The missing step after the backward pass (fix `step-the-optimizer`).

`zero_grad=each-step`: gradients are cleared right after the step that used them.

This is right with and without accumulation. A clearing between the backward pass and the step, which
removes the gradients before they are used, is moved instead."""

from traindx.lab.edits.api import (
    Found,
    Project,
    backwards,
    cst,
    only_backward,
    optimizer_of,
    optimizers,
    steps,
    writes,
)


@writes(fixes=("step-the-optimizer",))
def step_optimizer(project: Project, _value: str) -> None:
    if steps(project):
        return
    back, made = only_backward(project), optimizers(project)
    source = back.source
    clearing = [c for c in source.methods("zero_grad") if source.function(c) is source.function(back.call)]
    names = {source.code(c.func.value) for c in clearing if isinstance(c.func, cst.Attribute)}
    name = (
        names.pop()
        if len(names) == 1
        else made[0].target
        if len(made) == 1 and made[0].source is source
        else ""
    )
    if len(made) != 1 or not name or name.rpartition(".")[2] != made[0].target.rpartition(".")[2]:
        raise back.doubt(
            "optimizer.step() after the backward pass", "cannot tell what the optimizer is called here"
        )
    line = f"{name}.step()"
    after = back.statement(line, "the backward pass")
    source.insert_after(after, line, says=f"after the backward pass: {line}", at=back.call)


@writes("zero_grad")
def zero_gradients(project: Project, _value: str) -> None:
    found = steps(project)
    if not found:
        raise project.doubt("clear the gradients after each step", "no optimizer.step() was found")
    for step in found:
        source = step.source
        small = step.statement(f"{optimizer_of(step)}.zero_grad()", "the step")
        clearing = clearings(project, step)
        line = f"{optimizer_of(step)}.zero_grad()"
        for one in clearing:
            if is_between(project, one, step):
                why = "it cleared the gradients before they were used"
                source.remove(one.small, f"moved after the step, because {why}", at=one.call)
                line = source.code(one.call)
            else:
                return
        source.insert_after(small, line, says=f"after the step: {line}", at=step.call)


def clearings(project: Project, step: Found) -> list[Found]:
    """The clearings in the loop of a step."""
    source = step.source
    loops = source.loops(step.call)
    return [
        Found(source, call)
        for call in source.methods("zero_grad")
        if source.function(call) is source.function(step.call)
        and (not loops or source.inside(call, loops[0]))
        and (step.small is not source.small(call))
    ]


def is_between(project: Project, clearing: Found, step: Found) -> bool:
    """Whether a clearing is between a backward pass and the step, in one block."""
    source = step.source
    block = source.parents[source.parents[step.small]]
    same = source.parents[source.parents[clearing.small]] is block
    before = [b.line for b in backwards(project) if b.source is source and source.inside(b.call, block)]
    return same and any(line < clearing.line < step.line for line in before)
