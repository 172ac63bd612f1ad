"""`label_smoothing=0.1` and `class_weights=balanced`, as arguments of the training loss."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import Assignment

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.losses import Loss, losses, training_loss
from traindx.lab.edits.origins import put, trace, words_of
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import argument, dotted, with_argument
from traindx.lab.edits.training import Found


def smoothing(project: Project, value: str) -> None:
    loss = training_loss(project)
    if loss.kind != "cross_entropy":
        raise NotCertain(f"label_smoothing={value}", f"{loss.kind} has none", loss.source.path, loss.line)
    given = argument(loss.made, "label_smoothing")
    wanted = float(value)
    if given is None:
        if wanted:
            add(project, loss, "label_smoothing", words_of(wanted))
        return
    found = trace(project, loss.home, given.value)
    if found is None or found.value != found.origin.value:
        why = "where its value comes from is not certain"
        raise NotCertain(f"label_smoothing={value}", why, loss.home.path, loss.home.line(loss.made))
    if found.value != wanted:
        put(project, found.origin, wanted, "the label smoothing")


def add(project: Project, loss: Loss, name: str, code: str) -> None:
    """One more argument of the training loss; where its module computes the validation loss, too, that keeps its
    meaning: the training gets a module of its own."""
    shared = [one for one in losses(project) if one.made is loss.made]
    if not loss.by_module or len(shared) == 1:
        loss.home.change(loss.made, lambda call: with_argument(call, name, code))
        project.say(loss.home, loss.home.line(loss.made), f"{loss.home.code(loss.made.func)}: {name}={code}")
        return
    home, made = loss.home, Found(loss.home, loss.made)
    if home is not loss.source or not made.target or made.target != dotted(loss.use.func):
        why = "the same loss is used for the validation, whose meaning would change"
        raise NotCertain(f"{name}={code}", why, home.path, made.line)
    base, _, last = made.target.rpartition(".")
    own = f"{base}.training_{last}" if base else f"training_{last}"
    if any(home.code(node) == own for node in (*home.all(cst.Name), *home.all(cst.Attribute))):
        return
    new = home.module.code_for_node(with_argument(loss.made, name, code))
    home.insert_after(made.small, f"{own} = {new}")
    home.replace(loss.use.func, own)
    project.say(home, made.line, f"the training gets a loss of its own: {new}")


def weights(project: Project, value: str) -> None:
    """Weights n / (classes x samples of the class), from the tensor of all training labels."""
    loss = training_loss(project)
    place = (loss.home.path, loss.home.line(loss.made))
    if value not in ("balanced", "") or loss.kind not in ("cross_entropy", "nll_loss"):
        raise NotCertain("balanced class weights", f"not for {loss.kind}", *place)
    given = argument(loss.made, "weight", 2 if not loss.by_module else 0)
    if given is not None and "bincount" in loss.home.code(given.value):
        return
    if given is not None:
        raise NotCertain("balanced class weights", "the loss has weights of its own", *place)
    labels = labels_of(project, loss)
    if not labels or loss.home is not loss.source or (loss.by_module and not known_before(loss, labels)):
        raise NotCertain(
            "weight=len(y) / (classes * torch.bincount(y))",
            "which tensor holds all labels is not certain",
            *place,
        )
    classes = project.number("classes")
    counts = f"torch.bincount({labels})"
    if classes:  # one that is not in the training data has a weight, too
        counts = f"torch.bincount({labels}, minlength={classes:.0f}).clamp(min=1)"
    number = f"{classes:.0f}" if classes else f"len({counts})"
    add(project, loss, "weight", f"len({labels}) / ({number} * {counts})")


def labels_of(project: Project, loss: Loss) -> str:
    """The name of the tensor that the training labels are taken from: `y` of `y[rows]`, or of the data set."""
    target = loss.target
    if isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name):
        return str(target.value.value)
    return ""


def known_before(loss: Loss, labels: str) -> bool:
    """Whether the tensor of labels is there when the loss is made."""
    source = loss.home
    scope = source.scopes.get(loss.made)
    if scope is None or labels not in scope:
        return False
    lines = [source.line(a.node) for a in scope[labels] if isinstance(a, Assignment)]
    return bool(lines) and max(lines) < source.line(loss.made)


SMOOTHING = Kind(edit=smoothing, interventions=("label_smoothing",))
CLASS_WEIGHTS = Kind(edit=weights, interventions=("class_weights",), fixes=("weight-classes",))
