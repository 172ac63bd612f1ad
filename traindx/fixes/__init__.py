"""Fixes, one file each, and which of them a cause calls for.

The package is walked (nothing registers itself).
"""

import importlib
from functools import cache

import msgspec

from traindx.installed import defined_in, index_rows, modules_of
from traindx.vocabulary import Applicability, Fix, FixOffer, Setup

# Boosted trees have no layers and no optimizer, so only these fixes apply to them.
FOR_TREES = frozenset((
    "stop-early", "lower-learning-rate", "raise-learning-rate", "augment-data", "clean-labels",
    "drop-bad-samples", "match-preprocessing", "realign-labels", "remove-overlap", "weight-classes",
    "normalize-targets", "reduce-capacity",
))  # fmt: skip
EASE = ("runtime", "patch", "advice")  # what can be tried at once comes before what needs a person


@cache
def catalogue() -> tuple[Fix, ...]:
    """All fixes, sorted by slug."""
    return tuple(sorted(defined_in(__name__, Fix), key=lambda fix: fix.slug))


def find(slug: str) -> Fix | None:
    """The fix with this slug, or None."""
    return next((fix for fix in catalogue() if fix.slug == slug), None)


def offers(
    cause_slug: str, setup: Setup, boosted: bool = False, framework: str = "torch"
) -> tuple[FixOffer, ...]:
    """The fixes for a cause, best first, worded with the run's numbers and the framework's names; `boosted`: only
    those for trees.

    Best is the fix that lists the cause earliest. Among equals, a fix that can be tried from outside comes
    first, then the one that cures fewer causes.
    """
    fitting = [entry for entry in list_entries() if cause_slug in entry.causes]
    fitting.sort(
        key=lambda entry: (
            entry.causes.index(cause_slug),
            EASE.index(entry.applicability),
            len(entry.causes),
            entry.home.rpartition(".")[2],
        )
    )
    found = [importlib.import_module(entry.home).FIX for entry in fitting]
    apt = [fix for fix in found if fix.slug in FOR_TREES or not boosted]
    offered = (
        FixOffer(fix.slug, fix.applicability, describe_change(fix, setup, framework), fix.expected)
        for fix in apt
    )
    return tuple(offer for offer in offered if offer.change)  # an empty proposal: there is nothing to change


def describe_change(fix: Fix, setup: Setup, framework: str) -> str:
    """What to change, and how that is written in the framework; PyTorch's names where it is not known."""
    change, idiom = fix.propose(setup), fix.idioms.get(framework, "")
    return f"{change} ({idiom})" if change and idiom else change


class Entry(msgspec.Struct, frozen=True):
    """What choosing a fix needs: the module that defines it, and the causes that it cures, best first."""

    home: str
    applicability: Applicability
    causes: tuple[str, ...]


@cache
def list_entries() -> tuple[Entry, ...]:
    """Every fix: from the index, or from the modules where the index does not match the files."""
    known = index_rows(__name__)
    if modules_of(__name__, __path__, families=True) == {home for home, *_ in known}:
        return tuple(Entry(*row) for row in known)
    return tuple(Entry(fix.home, fix.applicability, fix.causes) for fix in catalogue())
