"""Clipping: `clip=1.0` and `clip.value=0.5` before the step (after unscaling), `clip=*10` and `clip=off` where it
stands."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.origins import put, trace, words_of
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import Found, optimizer_of, parameters_at, scaler_of, steps
from traindx.lab.edits.values import scaled_or_set

NORM, EACH = "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"
LIMITS = {"clip_grad_norm_": ("max_norm", 1), "clip_grad_value_": ("clip_value", 1)}


def norm(project: Project, value: str) -> None:
    if value == "off":
        return off(project)
    given = scaled_or_set(value)
    if given is None:
        raise NotCertain(f"clip={value}", "no such limit")
    if given[0] == "*":
        return scale(project, given[1])
    return add(project, NORM, given[1])


def each(project: Project, value: str) -> None:
    add(project, EACH, float(value))


def clips(project: Project) -> list[Found]:
    """The calls that clip gradients."""
    return [Found(s, call) for s in project.sources for call in s.methods(*LIMITS)] + [
        Found(s, call)
        for s in project.sources
        for call in s.calls(NORM, EACH)
        if isinstance(call.func, cst.Name)
    ]


def limit(project: Project, one: Found) -> float | None:
    node = one.given(*LIMITS[one.kind])
    found = trace(project, one.source, node) if node is not None else None
    return float(found.value) if found is not None and isinstance(found.value, (int, float)) else None


def add(project: Project, name: str, bound: float) -> None:
    """A clipping right before each step. Nothing where a step has this one already."""
    found = steps(project)
    if not found:
        raise NotCertain(f"{name}(...) before the step", "no optimizer.step() was found", project.script)
    same = [
        one for one in clips(project) if one.kind == name.rpartition(".")[2] and limit(project, one) == bound
    ]
    for step in found:
        if not any(precedes(one, step) for one in same):
            clip(project, step, name, bound)


def precedes(clipping: Found, step: Found) -> bool:
    """Whether a clipping stands before a step in the same function."""
    source = step.source
    if clipping.source is not source or source.function(clipping.call) is not source.function(step.call):
        return False
    here, there = source.places[clipping.call].start, source.places[step.call].start
    return (here.line, here.column) < (there.line, there.column)


def clip(project: Project, step: Found, name: str, bound: float) -> None:
    source = step.source
    if not isinstance(step.small, cst.Expr):
        raise NotCertain(f"{name}(...)", "the step is part of a larger statement", source.path, step.line)
    lines = [f"{spelled(step, name)}({parameters_at(project, step)}, {words_of(bound)})"]
    scaler = scaler_of(step)
    unscaled = any(
        source.function(call) is source.function(step.call) for call in source.methods("unscale_")
    )
    if scaler and not unscaled:
        lines.insert(0, f"{scaler}.unscale_({optimizer_of(step)})")
    source.insert_before(step.small, *lines)
    project.say(source, step.line, f"before the step: {'; '.join(lines)}")


def spelled(step: Found, name: str) -> str:
    """A function of torch by the shortest name that the file's imports give it."""
    source = step.source
    known = {
        full: node for node, full in source.names.items() if full in ("torch", "torch.nn", "torch.nn.utils")
    }
    if "torch.nn" in known and isinstance(known["torch.nn"], cst.Name):
        return f"{known['torch.nn'].value}.{name.removeprefix('torch.nn.')}"
    short = [
        alias for alias in known.values() if isinstance(alias, cst.Name) and source.name(alias) == "torch"
    ]
    if not short:
        raise NotCertain(
            f"{name}(...) before the step", "torch is not imported in this file", source.path, step.line
        )
    return name if short[0].value == "torch" else f"{short[0].value}.{name.removeprefix('torch.')}"


def scale(project: Project, factor: float) -> None:
    """Limits of the script's own, multiplied."""
    found = clips(project)
    if not found:
        raise NotCertain(f"{factor:g} times the clipping limit", "no clipping was found", project.script)
    recorded = project.number("clip_norm")
    for one in found:
        node = one.given(*LIMITS[one.kind])
        value = trace(project, one.source, node) if node is not None else None
        if value is None or not value.linear or isinstance(value.value, (str, bool)):
            why = "where the limit comes from is not certain"
            raise NotCertain(f"{factor:g} times the limit", why, one.source.path, one.line)
        if recorded is not None and abs(value.value - recorded * factor) <= 1e-6 * abs(value.value):
            continue
        put(project, value.origin, value.origin.value * factor, "the clipping limit")


def off(project: Project) -> None:
    """The script's own clipping, taken away where its result is not used."""
    for one in clips(project):
        if not isinstance(one.small, cst.Expr) or one.small.value is not one.call:
            raise NotCertain(
                "no clipping here", "the norm that it returns is used", one.source.path, one.line
            )
        one.source.remove(one.small)
        project.say(one.source, one.line, f"removed: {one.source.code(one.call)}")


CLIP_NORM = Kind(edit=norm, interventions=("clip",))
CLIP_VALUES = Kind(edit=each, interventions=("clip.value",))
