"""Learning rates that a step used."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("schedule", ("lr", "lr/<group>"), "scalar", "step", Cost(2.0))
