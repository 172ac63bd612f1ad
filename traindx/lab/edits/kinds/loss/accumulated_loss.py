"""`loss=/accumulation`: where several backward passes precede a step, the loss is divided by their
number."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.model import leaves
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source
from traindx.lab.edits.training import the_backward, the_step


def edit(project: Project, value: str) -> None:
    back, step = the_backward(project), the_step(project)
    source = back.source
    loss = back.call.func.value if isinstance(back.call.func, cst.Attribute) else None
    count = by_condition(source, step) or by_loop(source, back, step)
    if loss is None or not count:
        raise back.doubt(
            "(loss / passes).backward()", "cannot tell how many backward passes there are before a step"
        )
    if divided(source, loss, count):
        return
    source.change(
        loss, lambda node: cst.parse_expression(f"({cst.Module([]).code_for_node(node)} / {count})")
    )
    project.say(source, back.line, f"({source.code(loss)} / {count}).backward()")


def by_condition(source: Source, step: Found) -> str:
    """`N` of `if (i + 1) % N == 0:` around the step."""
    for outer in source.ancestors(step.call):
        if isinstance(outer, cst.FunctionDef):
            break
        if isinstance(outer, cst.If):
            parts = [
                n
                for n in leaves(outer.test)
                if isinstance(n, cst.BinaryOperation) and isinstance(n.operator, cst.Modulo)
            ]
            return source.code(parts[0].right) if len(parts) == 1 else ""
    return ""


def by_loop(source: Source, back: Found, step: Found) -> str:
    """`N` of `for _ in range(N):` around the backward pass, but not around the step."""
    loops = [one for one in source.loops(back.call) if not source.inside(step.call, one)]
    inner = loops[0].iter if len(loops) == 1 and isinstance(loops[0], cst.For) else None
    if isinstance(inner, cst.Call) and source.code(inner.func) == "range" and len(inner.args) == 1:
        return source.code(inner.args[0].value)
    return ""


def divided(source: Source, loss: cst.BaseExpression, count: str) -> bool:
    """Whether the loss is divided by that number already, here or where it is assigned."""
    names = {n.value for n in leaves(loss) if isinstance(n, cst.Name)}
    given = [a.value for a in source.all(cst.Assign) if source.code(a.targets[0].target) in names]
    divisions = [n for one in (loss, *given) for n in leaves(one) if isinstance(n, cst.BinaryOperation)]
    by_augmented = any(
        isinstance(a.operator, cst.DivideAssign) and source.code(a.target) in names
        for a in source.all(cst.AugAssign)
    )
    return by_augmented or any(
        isinstance(n.operator, cst.Divide) and source.code(n.right) == count for n in divisions
    )


KIND = Kind(edit=edit, interventions=("loss",), fixes=("scale-accumulated-loss",))
