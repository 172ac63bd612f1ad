"""Clipping: `clip=1.0` and `clip.value=0.5` before the step (after unscaling), `clip=*10` and `clip=off`
where it is set."""

import math

from traindx.lab.edits.api import (
    Change,
    Found,
    Project,
    certain_value,
    clip_optax,
    cst,
    optax_made,
    optimizer_of,
    parameters_at,
    scaler_of,
    steps,
    trace,
    words_of,
    write_value,
    writes,
)

NORM, EACH = "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"
LIMITS = {"clip_grad_norm_": ("max_norm", 1), "clip_grad_value_": ("clip_value", 1)}


@writes("clip")
def norm(project: Project, value: Change) -> None:
    if optax_made(project):
        return clip_optax(project, "clip_by_global_norm", value)
    if not value.relative:
        return add(project, NORM, value.number)
    return remove_clipping(project) if math.isinf(value.number) else scale(project, value.number)


@writes("clip.value")
def each(project: Project, value: float) -> None:
    if optax_made(project):
        return clip_optax(project, "clip", Change(value, False))
    return add(project, EACH, value)


def clips(project: Project) -> list[Found]:
    """The calls that clip gradients."""
    imported = [one for one in project.calls(NORM, EACH) if isinstance(one.call.func, cst.Name)]
    return project.methods(*LIMITS) + imported


def add(project: Project, name: str, bound: float) -> None:
    """Clip right before each step, unless the step has the same clipping already."""
    found = steps(project)
    if not found:
        raise project.doubt(f"{name}(...) before the step", "no optimizer.step() was found")
    same = [
        one for one in clips(project) if one.kind == name.rpartition(".")[2] and limit(project, one) == bound
    ]
    for step in found:
        if not any(is_before_step(one, step) for one in same):
            clip(project, step, name, bound)


def limit(project: Project, one: Found) -> float | None:
    node = one.argument(*LIMITS[one.kind])
    found = trace(project, one.source, node) if node is not None else None
    return float(found.value) if found is not None and isinstance(found.value, (int, float)) else None


def is_before_step(clipping: Found, step: Found) -> bool:
    """Whether a clipping comes before a step in the same function."""
    source = step.source
    if clipping.source is not source or source.function(clipping.call) is not source.function(step.call):
        return False
    here, there = source.places[clipping.call].start, source.places[step.call].start
    return (here.line, here.column) < (there.line, there.column)


def clip(project: Project, step: Found, name: str, bound: float) -> None:
    source, small = step.source, step.statement(f"{name}(...)", "the step")
    function = source.how_written(name, "torch.nn", "torch")
    if not function:
        raise step.doubt(f"{name}(...) before the step", "torch is not imported in this file")
    lines = [f"{function}({parameters_at(project, step)}, {words_of(bound)})"]
    scaler = scaler_of(step)
    unscaled = any(
        source.function(call) is source.function(step.call) for call in source.methods("unscale_")
    )
    if scaler and not unscaled:
        lines.insert(0, f"{scaler}.unscale_({optimizer_of(step)})")
    source.insert_before(small, *lines, says=f"before the step: {'; '.join(lines)}", at=step.call)


def scale(project: Project, factor: float) -> None:
    """Multiply the limits that the script sets."""
    found = clips(project)
    if not found:
        raise project.doubt(f"{factor:g} times the clipping limit", "no clipping was found")
    recorded = project.number("clip_norm")
    for one in found:
        node = one.argument(*LIMITS[one.kind])
        if node is None:
            raise one.doubt(f"{factor:g} times the limit", "cannot tell where the limit comes from")
        value = certain_value(project, one.source, node, f"{factor:g} times the limit", one.call)
        if recorded is not None and abs(value.value - recorded * factor) <= 1e-6 * abs(value.value):
            continue
        write_value(project, value.origin, value.origin.value * factor, "the clipping limit")


def remove_clipping(project: Project) -> None:
    """Remove the clipping of the script, where its result is not used."""
    for one in clips(project):
        if not isinstance(one.small, cst.Expr) or one.small.value is not one.call:
            raise one.doubt("no clipping here", "the norm that it returns is used")
        one.source.remove(one.small, f"removed: {one.source.code(one.call)}", at=one.call)
