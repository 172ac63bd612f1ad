"""How a step changes the weights, seen through a part of each parameter that moves on from sample to
sample."""

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Modules, Panel
from traindx.vocabulary import Floats


def panels(modules: Modules, values: Floats) -> Iterator[Panel]:
    """From `[3, parameters]`: norms of the changes, of the weights before, shares that did not change; NaN
    where not measured. An infinite norm is that of a parameter that is not finite, and hides the rest of its
    module."""
    change, size, unchanged = values.reshape(3, -1)
    known = ~np.isnan(change)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = modules.summed(np.where(known, change**2, 0))
        ratio = np.sqrt(moved / modules.summed(np.where(known, size**2, 0)))
        still = modules.summed(np.where(known, unchanged, 0)) / modules.summed(known.astype(np.float64))
    yield "update_ratio", modules.names, np.where(np.isfinite(ratio), ratio, np.nan)
    yield "update_zero_fraction", modules.names, still


FAMILY = Family(
    "updates", ("update_ratio/<module>", "update_zero_fraction/<module>"), "by module", "sample",
    Cost(10.0, each=9.0, value=0.8), panels=panels,
)  # fmt: skip
