"""`logits=on`: removes a softmax or sigmoid between the model and a loss that applies it itself, or has a
form that does.

Whatever reads the model's output must mean the same without it. The largest of several stays the largest,
and a comparison with 0.5 becomes one with 0. Anything else that reads probabilities makes it advice."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.follow import resolve
from traindx.lab.edits.keras_model import is_keras, match_output
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.losses import replace_loss, training_loss
from traindx.lab.edits.model import leaves
from traindx.lab.edits.outputs import last_activations, take_away
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, dotted
from traindx.lab.edits.training import model_at

WANTED = {("cross_entropy", "Softmax"): "cross_entropy", ("cross_entropy", "Sigmoid"): "cross_entropy",
          ("nll_loss", "Softmax"): "cross_entropy",
          ("binary_cross_entropy", "Sigmoid"): "binary_cross_entropy_with_logits",
          ("binary_cross_entropy_with_logits", "Sigmoid"): "binary_cross_entropy_with_logits"}  # fmt: skip
LARGEST = ("argmax", "topk", "max")


def edit(project: Project, _value: str) -> None:
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
    readers(project, found[0].kind)
    take_away(project, found[0])
    if wanted != loss.kind:
        replace_loss(project, loss.kind, wanted)
    return None


def readers(project: Project, what: str) -> None:
    """Compare the output with 0 where it was compared with 0.5. Refuse whatever else reads probabilities."""
    if what != "Sigmoid":
        return
    for source in project.sources:
        for node in source.all(cst.Comparison):
            if len(node.comparisons) != 1 or source.code(node.comparisons[0].comparator) != "0.5":
                continue
            if reads_output(project, source, node.left):
                source.replace(node.comparisons[0].comparator, "0")
                project.say(source, source.line(node), f"{source.code(node)}: compared with 0")
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
    parts = list(leaves(node))
    for name in [n for n in parts if isinstance(n, cst.Name)]:
        home, value = resolve(project, source, name)
        parts += list(leaves(value)) if home is source and value is not name else []
    calls = [one for one in parts if isinstance(one, cst.Call)]
    return any(
        dotted(one.func) == model_at(project, Found(source, one)) != ""
        for one in calls
        if one in source.parents
    )


def names_in(source: Source, node: cst.CSTNode) -> list[str]:
    return [source.name(one) for one in leaves(node) if isinstance(one, (cst.Name, cst.Attribute))]


KIND = Kind(edit=edit, interventions=("logits",), fixes=("feed-logits-to-loss",))
