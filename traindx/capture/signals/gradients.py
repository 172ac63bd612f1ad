"""Gradient norms: the global one and those of modules, of every step; written by module where it is
sampled."""

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Modules, Panel
from traindx.vocabulary import Floats


def panels(modules: Modules, squares: Floats) -> Iterator[Panel]:
    """From the sum of squares of each parameter's gradient, without a loss scale. A norm shows whether all
    is finite: nothing more is read for that."""
    norms = np.sqrt(modules.summed(squares))
    yield "grad_norm", modules.names, norms
    yield "grad_nonfinite", modules.names, (~np.isfinite(norms)).astype(np.float64)


FAMILY = Family(
    "gradients",
    ("grad_norm", "grad_norm_part", "grad_norm/<module>", "grad_nonfinite/<module>"),
    "by module", "step", Cost(10.0, each=1.6, value=0.35), panels=panels,
)  # fmt: skip
