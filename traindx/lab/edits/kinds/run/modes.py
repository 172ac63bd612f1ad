"""`mode=train`: the model is in training mode when gradients are computed.

`model.train()` goes right before the innermost loop around the backward pass, or inside that loop where
the mode changes in it. A `model.eval()` of the training itself becomes `model.train()`.

`eval_mode=eval`: the model is in evaluation mode where it is called without gradients.

`model.eval()` goes before the block (or into the function) without gradients, and `model.train()` before
the training loop, unless they are there already."""

from traindx.lab.edits.api import Found, Project, Source, cst, dotted_name, model_at, only_backward, writes


@writes("mode")
def set_mode(project: Project, _value: str) -> None:
    back = only_backward(project)
    source = back.source
    model = model_at(project, back)
    if not model:
        raise back.doubt(
            "model.train() before the training loop", "cannot tell what the model is called here"
        )
    loops = source.loops(back.call)
    if not loops:
        raise back.doubt(f"{model}.train() before the forward pass", "there is no loop")
    line = f"{model}.train()"
    if changes_mode(project, source, loops[0], back):
        first = loops[0].body.body[0]
        if source.code(first) == line:
            return
        source.insert_before(inner(first), line, says=f"first in the loop: {line}")
        return
    switched = mode_changes_before(source, loops[0], model)
    if switched and source.code(switched[-1].call) == line:
        return
    for call in (one for one in switched[-1:] if source.code(one.call) == f"{model}.eval()"):
        source.replace(call.call, line, f"{model}.eval() becomes {line}")
        return
    source.insert_before(loops[0], line, says=f"before the loop: {line}")


def inner(statement: cst.CSTNode) -> cst.CSTNode:
    """The node that insertions refer to: the simple statement on a line, or the compound statement
    itself."""
    return statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement


def mode_changes_before(source: Source, loop: cst.CSTNode, model: str) -> list[Found]:
    """The changes of the model's mode before a loop, in the same block."""
    block = source.parents[loop]
    found = []
    for statement in getattr(block, "body", ()):
        if statement is loop:
            break
        if isinstance(statement, cst.SimpleStatementLine):
            found += [
                Found(source, call)
                for call in source.methods("train", "eval")
                if source.inside(call, statement) and isinstance(call.func, cst.Attribute)
                and dotted_name(call.func.value) == model
            ]  # fmt: skip
    return found


def changes_mode(project: Project, source: Source, loop: cst.CSTNode, back: Found) -> bool:
    """Whether something in a loop could change the mode: an eval() in it, or in a function that it calls."""
    switching = {
        function.name.value
        for other in project.sources
        for call in other.methods("eval")
        if (function := other.function(call)) is not None
    }
    if any(source.inside(call, loop) for call in source.methods("eval")):
        return True
    own = source.function(back.call)
    own_name = own.name.value if own is not None else ""
    calls = [call for call in source.calls() if source.inside(call, loop)]
    return any(dotted_name(call.func).rpartition(".")[2] in switching - {own_name} for call in calls)


GRADLESS = (
    "torch.no_grad",
    "torch.inference_mode",
    "torch.autograd.no_grad",
    "torch.autograd.inference_mode",
)


@writes("eval_mode")
def evaluate_in_mode(project: Project, value: str) -> None:
    changed = False
    blocks = [(source, node) for source in project.sources for node in gradless(source)]
    for source, node in blocks:
        called = first_call(project, source, node)
        if called is None:
            continue
        model, at = called
        line = f"{model}.eval()"
        if any(
            source.code(call) == line and comes_before(source, call, at) for call in source.methods("eval")
        ):
            continue
        if any(
            source.code(call) == f"{model}.train()" and source.inside(call, node)
            for call in source.methods("train")
        ):
            raise source.doubt(node, f"{model}.eval()", "the mode is set to train here")
        place = inner(body_start(node)) if isinstance(node, cst.FunctionDef) else node
        source.insert_before(place, line, says=f"before the evaluation: {line}", at=node)
        changed = True
    if not blocks:
        raise project.doubt("model.eval() before the validation", "no block without gradients was found")
    if changed:
        set_mode.edit(project, value)


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
            if model and dotted_name(call.func) == model:
                return model, call
    return None


def comes_before(source: Source, call: cst.CSTNode, at: cst.CSTNode) -> bool:
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
