"""`skip_nonfinite=on`: a step is made only if all gradients are finite."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import parameters_at, scaler_of, the_step


def edit(project: Project, _value: str) -> None:
    step = the_step(project)
    source = step.source
    guarded = any(
        isinstance(outer, cst.If) and "isfinite" in source.code(outer.test)
        for outer in source.ancestors(step.call)
    )
    if guarded or scaler_of(step):
        return  # a scaler skips such steps
    if not source.alone(step.small) or not isinstance(step.small, cst.Expr):
        why = "the step is part of a larger statement"
        raise NotCertain("if all gradients are finite: the step", why, source.path, step.line)
    test = f"all(p.grad.isfinite().all() for p in {parameters_at(project, step)} if p.grad is not None)"
    line = source.parents[step.small]
    code = source.code(step.call)
    new = cst.parse_statement(f"if {test}:\n    {code}\n", config=source.module.config_for_parsing)
    source.change(line, lambda node: kept(node, new))
    project.say(source, step.line, f"if {test}: {code}")


def kept(line: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    """The new statement with the comments and empty lines above the old one."""
    return new.with_changes(leading_lines=getattr(line, "leading_lines", ()))


KIND = Kind(edit=edit, interventions=("skip_nonfinite",))
