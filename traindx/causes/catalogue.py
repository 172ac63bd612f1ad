"""All causes, from the family modules: the one place where weights enter.

The weights are hand-set (basis "convention", or "theory" where the link is a matter of arithmetic) and
stand with the causes. Fitted ones, once there are any, replace them here, for all readers at once.
"""

from __future__ import annotations

from functools import cache

from traindx.causes import (
    data,
    loop,
    model,
    nothing_wrong,
    numerics,
    optimization,
    quantization,
    regularization,
    systems,
)
from traindx.vocabulary.cause import Cause, Pattern

FAMILIES = (optimization, regularization, model, numerics, data, loop, quantization, systems, nothing_wrong)


@cache
def catalogue() -> tuple[Cause, ...]:
    """Every cause, family by family, in the order of the vocabulary."""
    return tuple(cause for family in FAMILIES for cause in family.CAUSES)


def patterns() -> tuple[Pattern, ...]:
    """The benign shapes that `healthy` may show."""
    return nothing_wrong.PATTERNS


def find(slug: str) -> Cause | None:
    """The cause with this slug, or None."""
    return next((c for c in catalogue() if c.slug == slug), None)
