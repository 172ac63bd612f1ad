"""`class_weights=balanced` of the training loss."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.loss_settings import weights

KIND = Kind(edit=weights, interventions=("class_weights",), fixes=("weight-classes",))
