"""Memory in use, by the clock and not by steps."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("memory", ("mem/host", "mem/device"), "scalar", "aside", Cost(15.0), asks=("memory-leak",))
