"""`register=all`: the optimizer has all parameters of the model."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.held_parameters import register

KIND = Kind(edit=register, interventions=("register",), fixes=("register-parameters",))
