"""Samples of samples-affect-each-other."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a transposed reshape": told("healthy", leak_pairs=12, leak_pairs_checked=12),
        "in a net that does not learn": told("rate_tiny", leak_pairs=3, leak_pairs_checked=12),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "each for itself": told("healthy", leak_pairs=0, leak_pairs_checked=12),
    }
