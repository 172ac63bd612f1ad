"""`label_smoothing=0.1` and `class_weights=balanced`, as arguments of the training loss."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import Assignment

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.losses import Loss, losses, training_loss
from traindx.lab.edits.origins import put, trace, words_of
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, argument, dotted, with_argument


def smoothing(project: Project, value: str) -> None:
    loss = training_loss(project)
    if loss.kind != "cross_entropy":
        raise loss.doubt(f"label_smoothing={value}", f"{loss.kind} has none")
    given = argument(loss.made, "label_smoothing")
    wanted = float(value)
    if given is None:
        if wanted:
            add(project, loss, "label_smoothing", words_of(wanted))
        return
    found = trace(project, loss.home, given.value)
    if found is None or found.value != found.origin.value:
        raise loss.home.doubt(
            loss.made, f"label_smoothing={value}", "cannot tell where its value comes from"
        )
    if found.value != wanted:
        put(project, found.origin, wanted, "the label smoothing")


def add(project: Project, loss: Loss, name: str, code: str) -> None:
    """One more argument of the training loss. Where its module also computes the validation loss, that keeps
    its meaning: the training gets a separate module."""
    shared = [one for one in losses(project) if one.made is loss.made]
    home, made = loss.home, Found(loss.home, loss.made)
    if not loss.by_module or len(shared) == 1:
        home.change(loss.made, lambda call: with_argument(call, name, code))
        project.say(home, made.line, f"{home.code(loss.made.func)}: {name}={code}")
        return
    if home is not loss.source or not made.target or made.target != dotted(loss.use.func):
        raise made.doubt(f"{name}={code}", "the same loss is also computed on the validation set")
    base, _, last = made.target.rpartition(".")
    own = f"{base}.training_{last}" if base else f"training_{last}"
    if any(home.code(node) == own for node in (*home.all(cst.Name), *home.all(cst.Attribute))):
        return
    new = home.module.code_for_node(with_argument(loss.made, name, code))
    home.insert_after(made.small, f"{own} = {new}")
    home.replace(loss.use.func, own)
    project.say(home, made.line, f"the training gets a separate loss: {new}")


def weights(project: Project, value: str) -> None:
    """Weights n / (classes x samples of the class), from the tensor of all training labels."""
    loss = training_loss(project)
    made, what = Found(loss.home, loss.made), "balanced class weights"
    if value not in ("balanced", "") or loss.kind not in ("cross_entropy", "nll_loss"):
        raise made.doubt(what, f"not for {loss.kind}")
    given = argument(loss.made, "weight", 2 if not loss.by_module else 0)
    if given is not None and "bincount" in loss.home.code(given.value):
        return
    if given is not None:
        raise made.doubt(what, "the loss already has weights")
    labels = labels_of(project, loss)
    if not labels or loss.home is not loss.source or (loss.by_module and not known_before(loss, labels)):
        write = "weight=len(y) / (classes * torch.bincount(y))"
        raise made.doubt(write, "cannot tell which tensor holds all labels")
    classes = project.number("classes")
    counts = f"torch.bincount({labels})"
    if classes:  # a class without training samples needs a weight as well
        counts = f"torch.bincount({labels}, minlength={classes:.0f}).clamp(min=1)"
    number = f"{classes:.0f}" if classes else f"len({counts})"
    add(project, loss, "weight", f"len({labels}) / ({number} * {counts})")


def labels_of(project: Project, loss: Loss) -> str:
    """The name of the tensor that the training labels come from: `y` of `y[rows]`, or of the data set."""
    target = loss.target
    if isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name):
        return str(target.value.value)
    return ""


def known_before(loss: Loss, labels: str) -> bool:
    """Whether the tensor of labels exists when the loss is made."""
    source = loss.home
    scope = source.scopes.get(loss.made)
    if scope is None or labels not in scope:
        return False
    lines = [source.line(a.node) for a in scope[labels] if isinstance(a, Assignment)]
    return bool(lines) and max(lines) < source.line(loss.made)


SMOOTHING = Kind(edit=smoothing, interventions=("label_smoothing",))
CLASS_WEIGHTS = Kind(edit=weights, interventions=("class_weights",), fixes=("weight-classes",))
