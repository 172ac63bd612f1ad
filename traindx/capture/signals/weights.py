"""Sizes of weights, which change slowly."""

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Modules, Panel
from traindx.vocabulary import Floats


def panels(modules: Modules, values: Floats) -> Iterator[Panel]:
    """From `[2, parameters]`: L2 norms, largest absolute values."""
    norms, largest = values.reshape(2, -1)
    yield "weight_norm", modules.names, np.sqrt(modules.summed(np.square(norms)))
    yield "weight_absmax", modules.names, modules.largest(largest)


FAMILY = Family(
    "weights", ("weight_norm/<module>", "weight_absmax/<module>"), "by module", "sample",
    Cost(5.0, each=6.0, value=0.9), apart=4, by_parameter=True, panels=panels,
)  # fmt: skip
