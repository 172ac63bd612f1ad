"""The activation of the last layer that fits the loss and the targets (fix `match-output-to-loss`).

A squared error of targets beyond the range of the activation needs none. One unit with a softmax is always
1, so a binary loss needs a sigmoid there. A cross-entropy needs scores."""

from __future__ import annotations

import math

from traindx.lab.edits.keras_model import is_keras
from traindx.lab.edits.keras_model import match_output as match_keras_output
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.kinds.model.logits import edit as give_logits
from traindx.lab.edits.losses import OF_VALUES, Loss, training_loss
from traindx.lab.edits.outputs import KINDS, SQUASHING, last_activations, softmax_to_sigmoid, take_away
from traindx.lab.edits.project import Project

BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
RANGES = {"Softmax": (0.0, 1.0), "Sigmoid": (0.0, 1.0), "ReLU": (0.0, math.inf), "Tanh": (-1.0, 1.0)}


def edit(project: Project, value: str) -> None:
    if is_keras(project):
        return match_keras_output(project)
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
        return give_logits(project, value)
    return take_away(project, last)


def beyond_targets(project: Project, loss: Loss, kind: str) -> None:
    """Refuse where the targets are within the range of an activation, as far as is known."""
    low, high = project.number("targets_min"), project.number("targets_max")
    if low is None or high is None or (RANGES[kind][0] <= low and high <= RANGES[kind][1]):
        raise loss.doubt("a linear last layer", f"the targets are not known to exceed the range of {kind}")


KIND = Kind(edit=edit, fixes=("match-output-to-loss",))
