"""How often the loop reads from its accelerator, and how long it waits there: counted over some steps now
and then."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("waits", ("calls/synchronize", "time/synchronize"), "scalar", "sample", Cost(5.0))
