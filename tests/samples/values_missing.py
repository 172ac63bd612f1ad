"""Samples of values-missing."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "three cells": surveyed(
            inputs_missing=3,
            inputs_missing_share=0.00023076923076923076,
            inputs_missing_worst_share=0.003,
            inputs_missing_where="age",
        ),
        "a feature that is mostly empty": surveyed(
            inputs_missing=770,
            inputs_missing_share=0.07,
            inputs_missing_worst_share=0.77,
            inputs_missing_where="cabin",
        ),
        "targets": surveyed(inputs_missing=0, targets_missing=4),
        "ragged rows": surveyed(inputs_missing=0, rows_malformed=2),
        "words among numbers": surveyed(inputs_missing=1, inputs_inconvertible=1),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "whole": surveyed(
            inputs_missing=0,
            inputs_missing_share=0.0,
            targets_missing=0,
            rows_malformed=0,
            inputs_inconvertible=0,
        ),
    }
