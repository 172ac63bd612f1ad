"""`momentum=...` of the optimizer."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.optimizer_settings import setting

KIND = Kind(edit=setting("momentum"), interventions=("momentum",))
