"""The learning rate of an update that the script writes itself: `w - LR * dw`, `p -= lr * p.grad`."""

from collections.abc import Iterator

import libcst as cst

from traindx.lab.edits.follow import resolve
from traindx.lab.edits.model import leaf_nodes
from traindx.lab.edits.origins import trace
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, dotted_name

OF_GRADIENTS = ("jax.grad", "jax.value_and_grad")
Use = tuple[Source, cst.CSTNode]


def hand_written_rates(project: Project) -> list[Use]:
    """The factors of gradients that are subtracted from parameters, where they are numbers of the script."""
    return [
        (source, rate)
        for source in project.sources
        for product in subtracted(source)
        for rate, other in ((product.left, product.right), (product.right, product.left))
        if is_gradient(project, source, other) and is_number(project, source, rate)
    ]


def subtracted(source: Source) -> Iterator[cst.BinaryOperation]:
    """The products that are subtracted from something."""
    taken = [one.right for one in source.all(cst.BinaryOperation) if isinstance(one.operator, cst.Subtract)]
    taken += [one.value for one in source.all(cst.AugAssign) if isinstance(one.operator, cst.SubtractAssign)]
    taken += [
        call.args[0].value for call in source.methods("sub_", "assign_sub") if len(call.args) == 1
    ]  # fmt: skip
    for one in taken:
        if isinstance(one, cst.BinaryOperation) and isinstance(one.operator, cst.Multiply):
            yield one


def is_gradient(project: Project, source: Source, node: cst.BaseExpression) -> bool:
    """`p.grad`, or a name in a function of JAX that computes gradients or gets them as an argument. There the
    gradients take new names in loops and functions (`for (w, b), (dw, db) in zip(params, grads)`)."""
    if any(isinstance(one, cst.Attribute) and one.attr.value == "grad" for one in leaf_nodes(node)):
        return True
    outer = [one for one in source.ancestors(node) if isinstance(one, cst.FunctionDef)]
    if not dotted_name(node) and not isinstance(node, cst.Subscript):
        return False
    if outer and any("grad" in one.name.value for one in outer[-1].params.params):
        return imports_jax(source)
    return any(
        computes_gradients(project, source, call)
        for call in source.calls()
        if not outer or source.inside(call, outer[-1])
    )


def imports_jax(source: Source) -> bool:
    return any(name.partition(".")[0] == "jax" for name in source.names.values())


def computes_gradients(project: Project, source: Source, call: cst.Call) -> bool:
    """Whether a call is `jax.grad(loss)(...)`, or one of a function that was made by it."""
    home, made = resolve(project, source, call.func)
    while isinstance(made, cst.Call) and home.name(made.func) == "jax.jit" and made.args:
        home, made = resolve(project, home, made.args[0].value)
    return isinstance(made, cst.Call) and home.name(made.func) in OF_GRADIENTS


def is_number(project: Project, source: Source, node: cst.BaseExpression) -> bool:
    found = trace(project, source, node)
    return found is not None and isinstance(found.value, (int, float)) and not isinstance(found.value, bool)
