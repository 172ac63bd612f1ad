"""A squared error of one-hot classes becomes a cross-entropy, with the same targets (fix
`use-matching-loss`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.model.logits import squashings, take_away
from traindx.lab.edits.losses import replace_loss, training_loss
from traindx.lab.edits.model import leaves
from traindx.lab.edits.project import Project


def edit(project: Project, _value: str) -> None:
    loss = training_loss(project)
    if loss.kind == "cross_entropy":
        return
    if loss.kind not in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        raise loss.doubt(
            "a loss that fits the targets", f"cannot tell what would fit instead of {loss.kind}"
        )
    one_hot = loss.target is not None and any(
        isinstance(node, cst.Call) and loss.source.name(node.func) == "torch.nn.functional.one_hot"
        for node in leaves(loss.target)
    )
    if not one_hot:
        raise loss.doubt("a loss that fits the targets", "cannot tell whether the targets are classes")
    if len(loss.use.args) != 2:
        raise loss.doubt("cross_entropy(scores, targets)", "it has further arguments")
    found = squashings(project)
    if len(found) > 1:
        raise loss.doubt("cross_entropy(scores, targets)", "several places could squash the output")
    for source, node, what in found:
        take_away(project, source, node, what)
    replace_loss(project, loss.kind, "cross_entropy")


KIND = Kind(edit=edit, fixes=("use-matching-loss",))
