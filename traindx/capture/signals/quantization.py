"""What quantization leaves of weights that are used rounded."""

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Panel
from traindx.vocabulary import Floats

FIELDS = (
    "quant/zero_fraction", "quant/majority", "quant/error", "quant/kept", "quant/clipped", "quant/flips", "quant/moved",
    "quant/gradient",
)  # fmt: skip
SELDOM = ("quant/clipped", "quant/flips", "quant/moved")  # written where they are finite


def panels(modules: tuple[str, ...], values: Floats) -> Iterator[Panel]:
    """From `[modules, FIELDS]`."""
    names, table = "\n".join(modules), np.asarray(values, np.float64).reshape(-1, len(FIELDS))
    for place, signal in enumerate(FIELDS):
        if np.isfinite(table[:, place]).any() or signal not in SELDOM:
            yield signal, names, table[:, place]


FAMILY = Family(
    "quantized", tuple(f"{name}/<module>" for name in FIELDS), "by module", "sample", Cost(600.0),
    optional=True, asks=("ternary-collapse", "quantization-gap", "quantized-layer-gradient-imbalance"), panels=panels,
)  # fmt: skip
