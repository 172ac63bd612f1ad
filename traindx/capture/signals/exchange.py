"""What a process's own backward passes made of a gradient, and what its step uses: where several train
together."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("exchange", ("exchange/own", "exchange/used"), "scalar", "sample", Cost(200.0))
