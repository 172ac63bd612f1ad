"""Fixes, one file each, and which of them a cause calls for.

The package is walked (nothing registers itself).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from traindx.vocabulary.diagnosis import FixOffer
from traindx.vocabulary.fix import Fix
from traindx.vocabulary.setup import Setup

EASE = ("runtime", "patch", "advice")  # what can be tried at once comes before what needs a person


@cache
def catalogue() -> tuple[Fix, ...]:
    """All fixes, by slug."""
    modules = (importlib.import_module(info.name) for info in pkgutil.walk_packages(__path__, prefix=__name__ + "."))
    found = (getattr(module, "FIX", None) for module in modules)
    return tuple(sorted((fix for fix in found if isinstance(fix, Fix)), key=lambda fix: fix.slug))


def find(slug: str) -> Fix | None:
    """The fix with this slug, or None."""
    return next((fix for fix in catalogue() if fix.slug == slug), None)


def offers(cause_slug: str, setup: Setup) -> tuple[FixOffer, ...]:
    """The fixes for a cause, best first, worded with the run's own numbers.

    Best is where the cause stands early in the fix's list of what it cures; among equals, what can
    be tried from outside comes first, then what is made for fewer causes.
    """
    fitting = [fix for fix in catalogue() if cause_slug in fix.causes]
    fitting.sort(
        key=lambda fix: (fix.causes.index(cause_slug), EASE.index(fix.applicability), len(fix.causes), fix.slug)
    )
    return tuple(FixOffer(fix.slug, fix.applicability, fix.propose(setup), fix.expected) for fix in fitting)
