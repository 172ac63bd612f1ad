"""Samples of targets-have-outliers."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a hundredfold": surveyed(targets_outliers=9, targets_outlier_reach=80.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "heavy tails": surveyed(targets_outliers=0, targets_outlier_reach=7.0),
    }
