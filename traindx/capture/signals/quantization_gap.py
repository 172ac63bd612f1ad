"""What quantization costs of the loss."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family(
    "quantization gap", ("quant/loss_gap",), "scalar", "aside", Cost(300.0), asks=("quantization-gap",)
)
