"""A squared error of one-hot classes becomes a cross-entropy, with the same targets (fix `use-matching-loss`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.model.logits import squashings, take_away
from traindx.lab.edits.losses import losses, rename, training_loss
from traindx.lab.edits.model import leaves
from traindx.lab.edits.project import NotCertain, Project


def edit(project: Project, _value: str) -> None:
    loss = training_loss(project)
    place = (loss.source.path, loss.line)
    if loss.kind == "cross_entropy":
        return
    if loss.kind not in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        raise NotCertain(
            "a loss that fits the targets", f"what would fit instead of {loss.kind} is not certain", *place
        )
    target = loss.target
    one_hot = target is not None and any(
        isinstance(node, cst.Call) and loss.source.name(node.func) == "torch.nn.functional.one_hot"
        for node in leaves(target)
    )
    if not one_hot:
        raise NotCertain(
            "a loss that fits the targets", "that the targets are classes is not certain", *place
        )
    if len(loss.use.args) != 2:
        raise NotCertain("cross_entropy(scores, targets)", "it has further arguments", *place)
    found = squashings(project)
    if len(found) > 1:
        raise NotCertain("cross_entropy(scores, targets)", "several places could squash the output", *place)
    for source, node, what in found:
        take_away(project, source, node, what)
    for one in {id(one.made): one for one in losses(project) if one.kind == loss.kind}.values():
        rename(one, "cross_entropy")
        project.say(one.home, one.home.line(one.made), f"{one.kind} becomes cross_entropy")


KIND = Kind(edit=edit, fixes=("use-matching-loss",))
