"""`workers=...` of the training loader."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.loaders import changing, workers

KIND = Kind(edit=changing(workers), interventions=("workers",))
