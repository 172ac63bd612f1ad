"""A squared error of one-hot classes becomes a cross-entropy, with the same targets (fix
`use-matching-loss`)."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.keras_model import is_keras, match_loss
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.losses import OF_VALUES, replace_loss, training_loss
from traindx.lab.edits.model import leaves
from traindx.lab.edits.outputs import last_activations, take_away
from traindx.lab.edits.project import Project


def edit(project: Project, _value: str) -> None:
    if is_keras(project):
        return match_loss(project)
    loss = training_loss(project)
    if loss.kind == "cross_entropy":
        return None
    if loss.kind not in OF_VALUES:
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
    found = last_activations(project)
    if len(found) > 1:
        raise loss.doubt("cross_entropy(scores, targets)", "several places could squash the output")
    for last in found:
        take_away(project, last)
    return replace_loss(project, loss.kind, "cross_entropy")


KIND = Kind(edit=edit, fixes=("use-matching-loss",))
