"""Shares of gradients that are exactly zero, in a part of each parameter that moves on from sample to
sample."""

from collections.abc import Iterator

from traindx.capture.signals.family import Cost, Family, Modules, Panel
from traindx.vocabulary import Floats


def panels(modules: Modules, shares: Floats) -> Iterator[Panel]:
    """From the share of each parameter; NaN without a gradient."""
    yield "grad_zero_fraction", modules.names, modules.share(shares)


FAMILY = Family(
    "zeros",
    ("grad_zero_fraction/<module>",),
    "by module",
    "sample",
    Cost(5.0, each=4.0, value=0.3),
    panels=panels,
)
