"""What the range of a quantizer cuts off of the inputs of layers."""

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Panel
from traindx.vocabulary import Floats


def panels(modules: tuple[str, ...], values: Floats) -> Iterator[Panel]:
    """From `[modules]`."""
    yield "quant/act_clipped", "\n".join(modules), np.asarray(values, np.float64)


FAMILY = Family(
    "quantized inputs", ("quant/act_clipped/<module>",), "by module", "sample", Cost(20.0, each=40.0), optional=True,
    asks=("quantization-gap",), panels=panels,
)  # fmt: skip
