"""Learning rates that a step used."""

from __future__ import annotations

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("schedule", ("lr", "lr/<group>"), "scalar", "step", Cost(2.0))
