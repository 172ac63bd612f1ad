"""Whether a record holds the signals that its framework declares, from which docs/frameworks.md is made."""

from __future__ import annotations

from collections.abc import Iterable

from traindx.capture.framework import frameworks
from traindx.capture.signals import catalogue
from traindx.vocabulary.run import Run


def assert_as_declared(framework: str, run: Run, but: Iterable[str] = ()) -> None:
    """`but`: families that depend on what a script does, and say nothing here."""
    (declared,) = (known for known in frameworks() if known.name == framework)
    recorded = {*run.series, *run.panels}
    for family in catalogue():
        if family.kind not in set(but):
            shown = declared.shows is None or family.kind in declared.shows
            there = any(name.partition("/<")[0] in recorded for name in family.signals)
            assert shown == there, (
                f"{family.kind!r} is {'recorded' if there else 'not recorded'} in {declared.label}: "
                f"{'add it to' if there else 'remove it from'} `shows` in {declared.attach.__module__}"
            )
