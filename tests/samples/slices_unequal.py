"""Samples of slices-unequal."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "labels": surveyed(
            slice_label_gap=-0.2,
            slice_label_gap_errors=9.0,
            slice_label_gap_slice="a",
            slice_column="group",
            slice_error_gap=0.01,
            slice_error_gap_errors=0.5,
            slice_error_gap_slice="b",
        ),
        "errors": surveyed(
            slice_label_gap=0.02,
            slice_label_gap_errors=1.0,
            slice_label_gap_slice="a",
            slice_column="group",
            slice_error_gap=0.15,
            slice_error_gap_errors=6.0,
            slice_error_gap_slice="b",
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "similar": surveyed(slice_label_gap=0.02, slice_label_gap_errors=1.0),
        "large by chance": surveyed(slice_label_gap=0.2, slice_label_gap_errors=2.0),
        "sure and small": surveyed(slice_label_gap=0.03, slice_label_gap_errors=12.0),
    }
