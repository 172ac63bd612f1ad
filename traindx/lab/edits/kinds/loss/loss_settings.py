"""`label_smoothing=0.1` and `class_weights=balanced`, as arguments of the training loss.

A squared error of one-hot classes becomes a cross-entropy, with the same targets (fix
`use-matching-loss`).

`loss=/accumulation`: where several backward passes precede a step, the loss is divided by their
number."""

import re

from libcst.metadata import Assignment

from traindx.lab.edits.api import (
    OF_VALUES,
    TENSORS,
    Found,
    Loss,
    Project,
    Source,
    argument,
    assigned_name,
    cst,
    dotted_name,
    is_keras,
    last_activations,
    leaf_nodes,
    losses,
    match_loss,
    only_backward,
    only_step,
    remove_activation,
    replace_loss,
    resolve,
    trace,
    training_loaders,
    training_loss,
    with_argument,
    words_of,
    write_value,
    writes,
)


@writes("label_smoothing")
def smoothing(project: Project, wanted: float) -> None:
    loss = training_loss(project)
    if loss.kind != "cross_entropy":
        raise loss.doubt(f"label_smoothing={wanted:g}", f"{loss.kind} has none")
    given = argument(loss.made, "label_smoothing")
    if given is None:
        if wanted:
            add(project, loss, "label_smoothing", words_of(wanted))
        return
    found = trace(project, loss.home, given.value)
    if found is None or found.value != found.origin.value:
        raise loss.home.doubt(
            loss.made, f"label_smoothing={wanted:g}", "cannot tell where its value comes from"
        )
    if found.value != wanted:
        write_value(project, found.origin, wanted, "the label smoothing")


def add(project: Project, loss: Loss, name: str, code: str) -> None:
    """One more argument of the training loss. Where its module also computes the validation loss, that keeps
    its meaning: the training gets a separate module."""
    shared = [one for one in losses(project) if one.made is loss.made]
    home, made = loss.home, Found(loss.home, loss.made)
    if not loss.by_module or len(shared) == 1:
        home.set_argument(loss.made, name, code, f"{home.code(loss.made.func)}: {name}={code}")
        return
    if home is not loss.source or not made.target or made.target != dotted_name(loss.use.func):
        raise made.doubt(f"{name}={code}", "the same loss is also computed on the validation set")
    base, _, last = made.target.rpartition(".")
    own = f"{base}.training_{last}" if base else f"training_{last}"
    if any(home.code(node) == own for node in (*home.all(cst.Name), *home.all(cst.Attribute))):
        return
    new = home.module.code_for_node(with_argument(loss.made, name, code))
    home.insert_after(made.small, f"{own} = {new}")
    home.replace(loss.use.func, own, f"the training gets a separate loss: {new}", at=loss.made)


@writes("class_weights", fixes=("weight-classes",))
def weights(project: Project, _value: str) -> None:
    """Weights n / (classes x samples of the class), from the tensor of all training labels."""
    loss = training_loss(project)
    made, binary = Found(loss.home, loss.made), loss.kind == "binary_cross_entropy_with_logits"
    write = "weight=len(y) / (classes * torch.bincount(y))"
    name, write = ("pos_weight", "pos_weight=(1 - y).sum() / y.sum()") if binary else ("weight", write)
    if loss.kind not in ("cross_entropy", "nll_loss") and not (
        binary and project.number("outputs_width") == 1
    ):
        raise made.doubt("larger weights for the rare classes", f"{loss.kind} takes none for each class")
    given = argument(loss.made, name, 2 if not loss.by_module else 0)
    if given is not None and (
        "bincount" in loss.home.code(given.value) or ".sum()" in loss.home.code(given.value)
    ):
        return
    if given is not None:
        raise made.doubt(write, "the loss already has weights")
    labels = labels_of(project, loss)
    if not labels or loss.home is not loss.source or (loss.by_module and not known_before(loss, labels)):
        raise made.doubt(write, "cannot tell which tensor holds all labels")
    if binary:
        return add(project, loss, name, f"(1 - {labels}).sum() / {labels}.sum()")
    classes = project.number("classes")
    counts = f"torch.bincount({labels})"
    if classes:  # a class without training samples needs a weight as well
        counts = f"torch.bincount({labels}, minlength={classes:.0f}).clamp(min=1)"
    number = f"{classes:.0f}" if classes else f"len({counts})"
    add(project, loss, "weight", f"len({labels}) / ({number} * {counts})")


def labels_of(project: Project, loss: Loss) -> str:
    """The tensor of the training labels, as code: `y` of `y[rows]`, or `y[:300]` of the data set of tensors that
    the training loader reads; "" where that is not certain."""
    target, training = loss.target, training_loaders(project)
    if isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name):
        return str(target.value.value)
    if isinstance(target, cst.Name) and loss.by_module and not training and known_before(loss, target.value):
        return str(target.value)
    given = training[0].argument("dataset", 0) if len(training) == 1 else None
    if given is None:
        return ""
    source, data = resolve(project, training[0].source, given)
    if source is not loss.home or not isinstance(data, cst.Call) or source.name(data.func) != TENSORS:
        return ""
    if len(data.args) != 2:
        return ""
    code = source.code(data.args[1].value)
    return code if is_array(source, data.args[1].value) else ""


MAKE_TENSORS = (
    "torch.tensor",
    "torch.as_tensor",
    "torch.from_numpy",
    "torch.FloatTensor",
    "torch.LongTensor",
)


def is_array(source: Source, node: cst.BaseExpression) -> bool:
    """Whether an expression is an array by name, a slice of one, or a tensor made of it: `torch.tensor(y).float()`."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.attr.value in ("float", "long") and is_array(source, node.func.value)
    if isinstance(node, cst.Call) and source.name(node.func) in MAKE_TENSORS:
        return isinstance(node.args[0].value, cst.Name)
    return source.code(node).replace("[", "").replace(":", "").replace("]", "").isidentifier()


def known_before(loss: Loss, labels: str) -> bool:
    """Whether the tensor of labels exists when the loss is made, and is the one that it is used with."""
    source = loss.home
    made_of = re.search(r"\((\w+)", labels)
    scope, labels = source.scopes.get(loss.made), made_of[1] if made_of else labels.partition("[")[0]
    used = loss.source.scopes.get(loss.use)
    if scope is None or labels not in scope or used is None or set(scope[labels]) != set(used[labels]):
        return False
    lines = [source.line(a.node) for a in scope[labels] if isinstance(a, Assignment)]
    return bool(lines) and max(lines) < source.line(loss.made)


def same_shape(project: Project) -> str:
    """What gives outputs of n x 1 the shape of n targets, or the other way round; "" where neither is the case."""
    given, wanted = (str(project.facts.get(f"loss_{one}_shape", "")) for one in ("input", "target"))
    if wanted and given == f"{wanted}x1":
        return ".squeeze(-1)"
    return ".unsqueeze(-1)" if given and wanted == f"{given}x1" else ""


@writes(fixes=("use-matching-loss",))
def use_matching_loss(project: Project, _value: str) -> None:
    if is_keras(project):
        return match_loss(project)
    loss = training_loss(project)
    if loss.kind == "cross_entropy":
        return None
    if loss.kind in OF_VALUES and loss.input is not None and (call := same_shape(project)):
        return reshape_outputs(project, loss, call)
    if loss.kind not in OF_VALUES:
        raise loss.doubt(
            "a loss that fits the targets", f"cannot tell what would fit instead of {loss.kind}"
        )
    one_hot = loss.target is not None and any(
        isinstance(node, cst.Call) and loss.source.name(node.func) == "torch.nn.functional.one_hot"
        for node in leaf_nodes(loss.target)
    )
    if not one_hot:
        raise loss.doubt("a loss that fits the targets", "cannot tell whether the targets are classes")
    if len(loss.use.args) != 2:
        raise loss.doubt("cross_entropy(scores, targets)", "it has further arguments")
    found = last_activations(project)
    if len(found) > 1:
        raise loss.doubt("cross_entropy(scores, targets)", "several places could squash the output")
    for last in found:
        remove_activation(project, last)
    return replace_loss(project, loss.kind, "cross_entropy")


def reshape_outputs(project: Project, loss: Loss, call: str) -> None:
    """Give the outputs the targets' shape, in training and wherever the same loss gets the same model's outputs: a
    validation loss over outputs of another shape would stay wrong, and could not show what the change brings."""
    for one in losses(project):
        twin = one.made is loss.made or (one.kind == loss.kind and not loss.by_module)
        given = one.input
        if given is None or (one.use is not loss.use and not (twin and same_model(one, loss))):
            continue
        code = one.source.code(given)
        code = code if isinstance(given, cst.Name | cst.Call | cst.Attribute) else f"({code})"
        one.source.replace(given, code + call, f"the outputs get the targets' shape: {call[1:]}")


def same_model(one: Loss, other: Loss) -> bool:
    """Whether two losses get what calls of the same thing return, without a change of its shape in between."""
    called = [latest_value(each.source, each.input) for each in (one, other) if each.input is not None]
    functions = [one.source.code(call.func) for call in called if isinstance(call, cst.Call)]
    return one.source is other.source and len(functions) == 2 and functions[0] == functions[1]


def latest_value(source: Source, node: cst.BaseExpression) -> cst.BaseExpression:
    """What a name was assigned last above its use, in the same function; a training and a validation loop often
    give their outputs the same name."""
    if not isinstance(node, cst.Name):
        return node
    above = [
        each
        for each in source.all(cst.Assign)
        if assigned_name(each) == node.value
        and source.function(each) is source.function(node)
        and source.line(each) < source.line(node)
    ]
    return max(above, key=source.line).value if above else node


@writes("loss", fixes=("scale-accumulated-loss",))
def scale_accumulated_loss(project: Project, value: str) -> None:
    back, step = only_backward(project), only_step(project)
    source = back.source
    loss = back.call.func.value if isinstance(back.call.func, cst.Attribute) else None
    count = by_condition(source, step) or by_loop(source, back, step)
    if loss is None or not count:
        raise back.doubt(
            "(loss / passes).backward()", "cannot tell how many backward passes there are before a step"
        )
    if is_divided(source, loss, count):
        return
    source.change(
        loss,
        lambda node: cst.parse_expression(f"({cst.Module([]).code_for_node(node)} / {count})"),
        f"({source.code(loss)} / {count}).backward()",
        at=back.call,
    )


def by_condition(source: Source, step: Found) -> str:
    """`N` of `if (i + 1) % N == 0:` around the step."""
    for outer in source.ancestors(step.call):
        if isinstance(outer, cst.FunctionDef):
            break
        if isinstance(outer, cst.If):
            parts = [
                n
                for n in leaf_nodes(outer.test)
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


def is_divided(source: Source, loss: cst.BaseExpression, count: str) -> bool:
    """Whether the loss is divided by that number already, here or where it is assigned."""
    names = {n.value for n in leaf_nodes(loss) if isinstance(n, cst.Name)}
    given = [a.value for a in source.all(cst.Assign) if source.code(a.targets[0].target) in names]
    divisions = [n for one in (loss, *given) for n in leaf_nodes(one) if isinstance(n, cst.BinaryOperation)]
    by_augmented = any(
        isinstance(a.operator, cst.DivideAssign) and source.code(a.target) in names
        for a in source.all(cst.AugAssign)
    )
    return by_augmented or any(
        isinstance(n.operator, cst.Divide) and source.code(n.right) == count for n in divisions
    )
