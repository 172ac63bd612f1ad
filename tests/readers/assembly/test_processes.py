"""Records of several processes in one log, distinguished by a column."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from traindx.readers import read_path

STEPS, RANKS = 50, 3
LOSSES = np.random.default_rng(3).random((RANKS, STEPS)) + np.linspace(2, 1, STEPS)


def records(order: str) -> list[dict[str, float]]:
    """One record of each rank at each step, mixed or one rank after another."""
    pairs = [(s, r) for s in range(STEPS) for r in range(RANKS)]
    pairs = sorted(pairs, key=lambda pair: pair[1]) if order == "one by one" else pairs
    return [{"step": s, "rank": r, "loss": LOSSES[r, s], "data_time": 0.1 * r} for s, r in pairs]


def written(folder: Path, kind: str, order: str) -> str:
    file = folder / f"log.{kind}"
    rows = records(order)
    lines = [",".join(map(str, row.values())) for row in rows]
    text = "\n".join([",".join(rows[0]), *lines] if kind == "csv" else map(json.dumps, rows))
    file.write_text(text + "\n")
    return str(file)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("order", ["mixed", "one by one"])
def test_each_rank_keeps_its_own_records(kind: str, order: str, tmp_path: Path) -> None:
    (run,) = read_path(written(tmp_path, kind, order))
    for rank in range(RANKS):
        prefix = f"rank/{rank}/" if rank else ""
        np.testing.assert_array_equal(run.series[f"{prefix}train/loss"].steps, np.arange(STEPS))
        np.testing.assert_allclose(run.series[f"{prefix}train/loss"].values, LOSSES[rank])
        np.testing.assert_allclose(run.series[f"{prefix}time/data"].values, 0.1 * rank)
    assert len(run.series) == 2 * RANKS
    assert run.setup.number("ranks_reporting") == RANKS


def test_a_metric_of_that_name_is_none(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    places = np.random.default_rng(4).integers(1, 9, STEPS)
    file.write_text("step,rank,loss\n" + "".join(f"{s},{places[s]},{LOSSES[0, s]}\n" for s in range(STEPS)))
    (run,) = read_path(str(file))
    np.testing.assert_allclose(run.series["train/loss"].values, LOSSES[0])
    assert not [name for name in run.series if name.startswith("rank/")]


def test_one_process_alone_is_the_run(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in records("mixed") if row["rank"] == 1))
    (run,) = read_path(str(file))
    np.testing.assert_allclose(run.series["train/loss"].values, LOSSES[1])
