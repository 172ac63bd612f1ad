"""The largest outputs of a sampled pass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Panel
from traindx.vocabulary.run import Floats


def panels(modules: tuple[str, ...], values: Floats) -> Iterator[Panel]:
    """From `[modules]`."""
    yield "output_scale", "\n".join(modules), np.asarray(values, np.float64)


FAMILY = Family(
    "output_scale", ("output_scale/<module>",), "by module", "sample", Cost(10.0, each=20.0), panels=panels
)
