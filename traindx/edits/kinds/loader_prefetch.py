"""`prefetch=...` of the training loader."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.loaders import changing, prefetch

KIND = Kind(edit=changing(prefetch), interventions=("prefetch",))
