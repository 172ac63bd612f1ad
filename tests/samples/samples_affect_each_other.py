"""Samples of samples-affect-each-other."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a transposed reshape": with_facts("healthy", leak_pairs=12, leak_pairs_checked=12),
        "in a net that does not learn": with_facts("rate_tiny", leak_pairs=3, leak_pairs_checked=12),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "each for itself": with_facts("healthy", leak_pairs=0, leak_pairs_checked=12),
    }
