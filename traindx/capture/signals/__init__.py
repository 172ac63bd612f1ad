"""What capture measures: every signal declared once, in the file of its family.

A family says which signals it has, in what shape they come, when they are due, what they cost, and whether
they may be left out. Those that come by module also turn one reading of a framework (`kind`, what it is
about, values) into panels. The names' units and meanings are the vocabulary's
(`traindx.vocabulary.signals`); nothing here knows a framework.

How to add one that is read from every parameter, such as the share of weights that are nearly zero:

    signals/sparsity.py                     FAMILY = Family("sparsity", ("weight_sparsity",), ..., by_parameter=True)
                                            and `panels(modules, values)`
    torch/measure/by_parameter/sparsity.py  `read(parameters, elsewhere)`: one vector
    vocabulary/signals.py                   its line: direction, unit, meaning

The package is walked; nothing registers itself.
"""

from functools import cache

from traindx.capture.signals.family import Family
from traindx.installed import defined_in


@cache
def catalogue() -> tuple[Family, ...]:
    """All families, by kind."""
    return tuple(sorted(defined_in(__name__, Family), key=lambda family: family.kind))


@cache
def families_by_kind() -> dict[str, Family]:
    return {family.kind: family for family in catalogue()}


def parameter_families() -> tuple[Family, ...]:
    """Families whose readings are one vector over parameters, taken after a sampled step."""
    return tuple(family for family in catalogue() if family.panels is not None and family.by_parameter)
