"""`gradient_sign=on`: gradients are replaced by their signs before the step."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import writes
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import only_step, parameters_at


@writes("gradient_sign")
def gradient_sign(project: Project, _value: str) -> None:
    step = only_step(project)
    source = step.source
    if "p.grad.sign()" in source.module.code:
        return
    if not source.alone(step.small) or not isinstance(step.small, cst.Expr):
        raise NotCertain(
            "the signs of the gradients", "the step is part of a larger statement", source.path, step.line
        )
    text = f"for p in {parameters_at(project, step)}:\n    p.grad = p.grad.sign()\n"
    new = cst.parse_statement(text, config=source.module.config_for_parsing)
    source.change(source.parents[step.small], lambda node: cst.FlattenSentinel([new, node]))
    project.say(source, step.line, "the signs of the gradients")
