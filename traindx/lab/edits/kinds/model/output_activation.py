"""The activation of the last layer that fits the loss and the targets (fix `match-output-to-loss`).

A squared error of targets beyond the range of the activation needs none. One unit with a softmax is always
1, so a binary loss needs a sigmoid there. A cross-entropy needs scores.

`logits=on`: removes a softmax or sigmoid between the model and a loss that applies it itself, or has a
form that does.

Whatever reads the model's output must mean the same without it. The largest of several stays the largest,
and a comparison with 0.5 becomes one with 0. Anything else that reads probabilities makes it advice."""

import math

from libcst.metadata import Assignment

from traindx.lab.edits.api import (
    KINDS,
    OF_VALUES,
    SQUASHING,
    Found,
    Loss,
    Project,
    Source,
    cst,
    dotted_name,
    is_keras,
    last_activations,
    leaf_nodes,
    match_output,
    model_at,
    remove_activation,
    replace_loss,
    softmax_to_sigmoid,
    training_loss,
    writes,
)

BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
RANGES = {"Softmax": (0.0, 1.0), "Sigmoid": (0.0, 1.0), "ReLU": (0.0, math.inf), "Tanh": (-1.0, 1.0)}


@writes(fixes=("match-output-to-loss",))
def match_output_to_loss(project: Project, value: str) -> None:
    if is_keras(project):
        return match_output(project)
    loss = training_loss(project)
    found = last_activations(project, tuple(KINDS.values()))
    if len(found) != 1:
        if not found and project.facts.get("outputs_last_activation") in (None, "none", "linear"):
            return None
        raise loss.doubt(
            "a last layer that fits the loss", f"{len(found)} places could be the last activation"
        )
    last = found[0]
    if (loss.kind, last.kind) == (BINARY[0], "Sigmoid"):
        return None
    if loss.kind in BINARY and last.kind == "Softmax" and project.number("outputs_width") == 1:
        if loss.kind == BINARY[0]:
            return softmax_to_sigmoid(project, last)
    elif loss.kind in OF_VALUES:
        beyond_targets(project, loss, last.kind)
    elif loss.kind != "cross_entropy" or last.kind in SQUASHING:
        return feed_logits.edit(project, value)
    return remove_activation(project, last)


def beyond_targets(project: Project, loss: Loss, kind: str) -> None:
    """Refuse where the targets are within the range of an activation, as far as is known."""
    low, high = project.number("targets_min"), project.number("targets_max")
    if low is None or high is None or (RANGES[kind][0] <= low and high <= RANGES[kind][1]):
        raise loss.doubt("a linear last layer", f"the targets are not known to exceed the range of {kind}")


WANTED = {("cross_entropy", "Softmax"): "cross_entropy", ("cross_entropy", "Sigmoid"): "cross_entropy",
          ("nll_loss", "Softmax"): "cross_entropy",
          ("binary_cross_entropy", "Sigmoid"): "binary_cross_entropy_with_logits",
          ("binary_cross_entropy_with_logits", "Sigmoid"): "binary_cross_entropy_with_logits"}  # fmt: skip
LARGEST = ("argmax", "topk", "max")


@writes("logits", fixes=("feed-logits-to-loss",))
def feed_logits(project: Project, _value: str) -> None:
    if is_keras(project):
        return match_output(project)
    loss = training_loss(project)
    found = last_activations(project)
    if not found and loss.kind in ("cross_entropy", "binary_cross_entropy_with_logits"):
        return None
    if len(found) != 1:
        why = f"{len(found)} places could squash the model's output"
        raise loss.doubt("give the model's scores to the loss", why)
    wanted = WANTED.get((loss.kind, found[0].kind))
    if wanted is None:
        raise loss.doubt("a loss that fits the output", f"{found[0].kind} before {loss.kind}")
    if wanted == loss.kind == BINARY[1] and rounds(project):
        return replace_loss(project, loss.kind, BINARY[0])  # what is rounded stays a probability
    readers(project, found[0].kind)
    remove_activation(project, found[0])
    if wanted != loss.kind:
        replace_loss(project, loss.kind, wanted)
    return None


def rounds(project: Project) -> bool:
    """Whether the script rounds something, which may be the output."""
    return bool(project.methods("round") or project.calls("torch.round"))


def readers(project: Project, what: str) -> None:
    """Compare the output with 0 where it was compared with 0.5. Refuse whatever else reads probabilities."""
    if what != "Sigmoid":
        return
    for source in project.sources:
        for node in source.all(cst.Comparison):
            if len(node.comparisons) != 1 or source.code(node.comparisons[0].comparator) != "0.5":
                continue
            if reads_output(project, source, node.left):
                says = f"{source.code(node)}: compared with 0"
                source.replace(node.comparisons[0].comparator, "0", says, at=node)
            elif not any(name.startswith(("torch.rand", "random.")) for name in names_in(source, node.left)):
                raise source.doubt(
                    node,
                    "a comparison with 0, if so",
                    "cannot tell whether this reads the model's output",
                )
        for call in source.methods("round"):
            if isinstance(call.func, cst.Attribute) and reads_output(project, source, call.func.value):
                raise source.doubt(
                    call, "(output > 0) in place of round()", "rounding expects probabilities"
                )


def reads_output(project: Project, source: Source, node: cst.CSTNode) -> bool:
    """Whether an expression holds a call of the model, or a name that was assigned one."""
    parts = list(leaf_nodes(node))
    for name in [n for n in parts if isinstance(n, cst.Name)]:
        for statement in (
            source.small(one.node) for one in source.bindings(name) if isinstance(one, Assignment)
        ):
            parts += list(leaf_nodes(statement.value)) if isinstance(statement, cst.Assign) else []
    calls = [one for one in parts if isinstance(one, cst.Call)]
    return any(
        dotted_name(one.func) == model_at(project, Found(source, one)) != ""
        for one in calls
        if one in source.parents
    )


def names_in(source: Source, node: cst.CSTNode) -> list[str]:
    return [source.name(one) for one in leaf_nodes(node) if isinstance(one, (cst.Name, cst.Attribute))]
