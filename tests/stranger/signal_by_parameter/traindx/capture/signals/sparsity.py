"""Weights that are exactly zero."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.capture.signals.family import Cost, Family, Modules, Panel
from traindx.vocabulary.run import Floats


def panels(modules: Modules, values: Floats) -> Iterator[Panel]:
    """From `[parameters]`: shares of zeros."""
    yield "weight_sparsity", modules.names, modules.share(values)


FAMILY = Family(
    "sparsity", ("weight_sparsity/<module>",), "by module", "sample", Cost(5.0, each=6.0, value=0.5),
    by_parameter=True, panels=panels,
)  # fmt: skip
