"""`data=...` of the training loader."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.loaders import changing, shuffle

KIND = Kind(edit=changing(shuffle), interventions=("data",))
