"""Clipping of every value: `clip.value=0.5` before the step."""

from __future__ import annotations

from traindx.edits.kind import Kind
from traindx.edits.kinds.clip_gradients import each

KIND = Kind(edit=each, interventions=("clip.value",))
