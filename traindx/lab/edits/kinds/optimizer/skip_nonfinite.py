"""`skip_nonfinite=on`: a step is made only if all gradients are finite."""

from traindx.lab.edits.api import (
    Project,
    cst,
    only_step,
    optax_made,
    parameters_at,
    scaler_of,
    wrap_all,
    writes,
)


@writes("skip_nonfinite")
def skip_nonfinite(project: Project, _value: str) -> None:
    if optax_made(project):
        return wrap_all(project, "{optax}.apply_if_finite({call}, 2**31 - 1)")
    step = only_step(project)
    source = step.source
    guarded = any(
        isinstance(outer, cst.If) and "isfinite" in source.code(outer.test)
        for outer in source.ancestors(step.call)
    )
    if guarded or scaler_of(step):
        return None  # a scaler skips such steps
    if not source.alone(step.small) or not isinstance(step.small, cst.Expr):
        raise step.doubt("if all gradients are finite: the step", "the step is part of a larger statement")
    test = f"all(p.grad.isfinite().all() for p in {parameters_at(project, step)} if p.grad is not None)"
    line = source.parents[step.small]
    code = source.code(step.call)
    new = cst.parse_statement(f"if {test}:\n    {code}\n", config=source.module.config_for_parsing)
    source.change(
        line,
        lambda node: new.with_changes(leading_lines=getattr(node, "leading_lines", ())),
        f"if {test}: {code}",
        at=step.call,
    )
    return None
