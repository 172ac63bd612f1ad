"""Small text logs, one line a row, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from traindx import pipeline
from traindx.vocabulary.diagnosis import Finding, RunDiagnosis

STEPS = 200
NOISE = np.random.default_rng(0).normal(size=STEPS)
FALLING = 0.4 + 2.0 * np.exp(-np.arange(STEPS) / 40) + 0.01 * NOISE


def said(folder: Path, axis: str = "step", first: int = 0, **columns: object) -> RunDiagnosis:
    """What is said of a text log with these columns, one line for each value of `axis` from `first` on."""
    names = list(columns)
    rows = zip(*columns.values(), strict=True)  # type: ignore[call-overload]
    lines = [
        f"{axis} {i} " + " ".join(f"{name} {value:.6g}" for name, value in zip(names, row, strict=True))
        for i, row in enumerate(rows, first)
    ]
    return said_of_text(folder, "\n".join(lines))


def said_of_text(folder: Path, text: str) -> RunDiagnosis:
    """What is said of a text log."""
    (folder / "train.log").write_text(text)
    return pipeline.diagnose(pipeline.read_all(folder / "train.log")).first


def said_of_table(folder: Path, **columns: object) -> RunDiagnosis:
    """The same of a CSV file with a column `step`."""
    rows = zip(*columns.values(), strict=True)  # type: ignore[call-overload]
    lines = [",".join(f"{value:.6g}" for value in (i, *row)) for i, row in enumerate(rows)]
    (folder / "metrics.csv").write_text("\n".join([",".join(["step", *columns]), *lines]))
    return pipeline.diagnose(pipeline.read_all(folder / "metrics.csv")).first


def by_slug(run: RunDiagnosis) -> Mapping[str, Finding]:
    """The findings by their rule."""
    return {f.slug: f for f in reversed(run.findings)}
