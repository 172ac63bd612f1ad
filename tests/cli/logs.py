"""Small logs for the command line: one clearly sick run, one healthy, in formats that need nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests import make


def healthy_rows(n: int = 400) -> list[dict[str, float]]:
    loss = make.healthy_loss(n)
    val = make.healthy_loss(n, start=2.35, floor=0.33, noise=0.01, seed=1)
    return [
        {"step": i, "train_loss": float(a), "val_loss": float(b)}
        for i, (a, b) in enumerate(zip(loss, val, strict=True))
    ]


def diverging_rows(n: int = 400) -> list[dict[str, float]]:
    """Falls, rises from two thirds on by orders of magnitude, and ends not finite."""
    rows = healthy_rows(n)
    for i in range(2 * n // 3, n):
        rows[i]["train_loss"] *= float(np.exp((i - 2 * n // 3) / 8))
    for row in rows[-20:]:
        row["train_loss"] = float("nan")
    return rows


def csv_text(rows: list[dict[str, float]]) -> str:
    names = list(rows[0])
    return "\n".join([",".join(names), *(",".join(repr(row[n]) for n in names) for row in rows), ""])


def jsonl_text(rows: list[dict[str, float]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def written(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def sick_log(folder: Path, name: str = "sick.csv") -> Path:
    return written(folder / name, csv_text(diverging_rows()))


def healthy_log(folder: Path, name: str = "healthy.csv") -> Path:
    return written(folder / name, csv_text(healthy_rows()))
