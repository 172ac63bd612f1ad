"""Samples of rows-sorted-by-class."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "by class": surveyed(rows_class_purity=0.88),
        "by value, falling": surveyed(rows_target_trend=-0.97),
        "and nothing shuffles": surveyed(rows_class_purity=0.88, shuffle=False),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "mixed": surveyed(rows_class_purity=-0.02),
        "a drift": surveyed(rows_target_trend=0.2),
        "blocks of few": surveyed(rows_class_purity=0.12),
    }
