"""Data sets whose faults are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from traindx import survey
from traindx.survey import Survey

COLUMNS = ("a", "b", "c", "d")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def sound(n: int = 600, seed: int = 0, classes: int = 3) -> dict[str, Any]:
    """Columns of a data set in which nothing is wrong: classes 4 spreads apart in two of four features."""
    chance = rng(seed)
    label = chance.integers(0, classes, n)
    values = chance.standard_normal((n, len(COLUMNS)))
    values[:, 0] += 4 * label
    values[:, 1] -= 4 * label
    return {**{name: values[:, i] for i, name in enumerate(COLUMNS)}, "label": label}


def measured(data: Any, target: Any = "label", **options: Any) -> Survey:
    return survey.examine(data, target, **{"fitted": False, **options})


def facts(data: Any, target: Any = "label", **options: Any) -> dict[str, Any]:
    return dict(measured(data, target, **options).measured.facts)


def write_csv(
    path: Path, columns: dict[str, Any], *, delimiter: str = ",", rows: Sequence[str] = ()
) -> Path:
    """Columns as a CSV file, and further lines as they are."""
    lines = [delimiter.join(columns)]
    lines += [
        delimiter.join(str(v) for v in row) for row in zip(*(list(c) for c in columns.values()), strict=True)
    ]
    path.write_text("\n".join([*lines, *rows]) + "\n", encoding="utf-8")
    return path
