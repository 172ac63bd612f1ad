"""The losses of a step, as the loop computed them."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family(
    "loss", ("train/loss", "val/loss", "train/<metric>", "val/<metric>"), "scalar", "step", Cost(12.0)
)  # fmt: skip
