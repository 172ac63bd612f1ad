"""All causes, from the family modules, with the weights of grades and experiments added.

Weights are set by hand here; the ranking adds the fitted ones (`ranking.fitted`).
"""

from functools import cache

import msgspec

from traindx.causes.experiments.weights import EXPERIMENT_WEIGHTS
from traindx.causes.families import (
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
from traindx.causes.grades.weights import GRADE_WEIGHTS
from traindx.vocabulary import Cause, Pattern, Weight

FAMILIES = (optimization, regularization, model, numerics, data, loop, quantization, systems, nothing_wrong)


@cache
def catalogue() -> tuple[Cause, ...]:
    """Every cause, family by family, in the order of the vocabulary."""
    return tuple(with_weights(cause) for family in FAMILIES for cause in family.CAUSES)


def with_weights(cause: Cause) -> Cause:
    """The cause with the weights of grades and experiments."""
    more = {key: Weight(value) for key, value in GRADE_WEIGHTS.get(cause.slug, {}).items()}
    tried = EXPERIMENT_WEIGHTS.get(cause.slug, {})
    return msgspec.structs.replace(cause, weights={**cause.weights, **more, **tried})


def patterns() -> tuple[Pattern, ...]:
    """The benign shapes that `healthy` may show."""
    return nothing_wrong.PATTERNS


def find(slug: str) -> Cause | None:
    """The cause with this slug, or None."""
    return next((c for c in catalogue() if c.slug == slug), None)
