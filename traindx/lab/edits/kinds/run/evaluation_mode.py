"""`eval_mode=eval`: the model is in evaluation mode where it is called without gradients.

`model.eval()` goes before the block (or into the function) without gradients, and `model.train()` before
the training loop, unless they are there already."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.run import training_mode
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, dotted
from traindx.lab.edits.training import model_at

GRADLESS = (
    "torch.no_grad",
    "torch.inference_mode",
    "torch.autograd.no_grad",
    "torch.autograd.inference_mode",
)


def edit(project: Project, value: str) -> None:
    changed = False
    blocks = [(source, node) for source in project.sources for node in gradless(source)]
    for source, node in blocks:
        called = first_call(project, source, node)
        if called is None:
            continue
        model, at = called
        line = f"{model}.eval()"
        if any(source.code(call) == line and before(source, call, at) for call in source.methods("eval")):
            continue
        if any(
            source.code(call) == f"{model}.train()" and source.inside(call, node)
            for call in source.methods("train")
        ):
            raise source.doubt(node, f"{model}.eval()", "the mode is set to train here")
        if isinstance(node, cst.FunctionDef):
            source.insert_before(training_mode.inner(body_start(node)), line)
        else:
            source.insert_before(node, line)
        project.say(source, source.line(node), f"before the evaluation: {line}")
        changed = True
    if not blocks:
        raise project.doubt("model.eval() before the validation", "no block without gradients was found")
    if changed:
        training_mode.edit(project, value)


def gradless(source: Source) -> list[cst.With | cst.FunctionDef]:
    """The blocks and functions without gradients. A block inside such a function belongs to it."""
    found: list[cst.With | cst.FunctionDef] = []
    for node in source.nodes:
        if isinstance(node, cst.FunctionDef) and any(is_off(source, d.decorator) for d in node.decorators):
            found.append(node)
        elif isinstance(node, cst.With) and any(is_off(source, item.item) for item in node.items):
            found += [] if any(source.inside(node, outer) for outer in found) else [node]
    return found


def is_off(source: Source, node: cst.CSTNode) -> bool:
    return source.name(node.func if isinstance(node, cst.Call) else node) in GRADLESS


def first_call(project: Project, source: Source, node: cst.CSTNode) -> tuple[str, cst.Call] | None:
    """The model as it is called in a block, and where."""
    for call in source.calls():
        if source.inside(call, node):
            model = model_at(project, Found(source, call))
            if model and dotted(call.func) == model:
                return model, call
    return None


def before(source: Source, call: cst.CSTNode, at: cst.CSTNode) -> bool:
    """Whether a call comes before another one in the same function, with no training in between."""
    if source.function(call) is not source.function(at) or source.line(call) > source.line(at):
        return False
    between = (source.line(one) for one in source.methods("train", "backward"))
    return not any(source.line(call) < line < source.line(at) for line in between)


def body_start(function: cst.FunctionDef) -> cst.CSTNode:
    """The first statement of a function after its docstring."""
    body = list(function.body.body)
    first = body[0].body[0] if isinstance(body[0], cst.SimpleStatementLine) else body[0]
    documented = isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString)
    return body[1] if documented and len(body) > 1 else body[0]


KIND = Kind(edit=edit, interventions=("eval_mode",))
