"""The scorer on a small folder whose answers are known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gym.scoring import foreign, score, tables
from benchmarks.gym.scoring.diagnoses import Record, cut, levels_of, records, reduced
from traindx import pipeline


def log_of(loss: np.ndarray, rate: bool = True) -> str:
    held = [f"step={10 * i} loss={v:.5f}" + " lr=0.1" * rate for i, v in enumerate(loss)]
    return (
        "\n".join(f"{line}\nstep={10 * i} val_loss={loss[i] + 0.1:.5f}" for i, line in enumerate(held))
        + "\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    well = 0.3 + 2.0 * np.exp(-np.arange(80) / 12) + 0.01 * rng.standard_normal(80)
    ill = 2.3 * 1.2 ** np.arange(80)
    (tmp_path / "well.log").write_text(log_of(well))
    (tmp_path / "ill.log").write_text(log_of(ill))
    (tmp_path / "prose.log").write_text("nothing was measured here\n" * 5)
    (tmp_path / "labels.json").write_text(
        json.dumps(
            [
                {"script": "a/train.py", "causes": [], "log": "well.log"},
                {"script": "b/train.py", "causes": ["learning-rate-too-high"], "log": "ill.log"},
                {"script": "c/train.py", "causes": ["bad-initialization"], "log": "prose.log"},
            ]
        )
    )
    return tmp_path


def test_levels_of_a_log(folder: Path) -> None:
    run = pipeline.read(folder / "well.log")
    assert levels_of(run, {}) == ["loss", "loss+val", "rich"]
    assert set(reduced(run, "loss").series) == {"train/loss"}
    assert set(reduced(run, "loss+val").series) == {"train/loss", "val/loss"}
    assert set(reduced(run, "rich").series) == set(run.series)


def test_a_beginning_holds_the_first_steps_alone(folder: Path) -> None:
    run = pipeline.read(folder / "well.log")
    part = cut(run, 0.25)
    assert part.last_step == pytest.approx(0.25 * run.last_step, abs=10)
    assert len(part.series["val/loss"]) == len(part.series["train/loss"]) == 20


def test_a_folder_with_a_labels_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score.score_folder(folder, folder / "table.md", detection=True)
    text = capsys.readouterr().out
    assert text.strip() == (folder / "table.md").read_text().strip()
    assert "1 healthy, 2 hurts" in text.replace("2 hurts, 1 healthy", "1 healthy, 2 hurts")
    assert "2 logs read, 1 not" in text
    kept = [json.loads(line) for line in (folder / "scored.jsonl").read_text().splitlines()]
    assert [(k["row"]["id"], k["level"]) for k in kept] == [
        (script, level) for script in ("a/train.py", "b/train.py") for level in ("loss", "loss+val", "rich")
    ]
    assert {k["health"] for k in kept if k["row"]["id"] == "b/train.py"} <= {"sick", "failed"}


def test_a_script_without_a_log_is_run(tmp_path: Path) -> None:
    body = "for s in range(30):\n    print(f'step {s} loss {2.0 / (s + 1):.4f}')\nraise SystemExit(3)\n"
    (tmp_path / "train.py").write_text(body)
    (tmp_path / "labels.json").write_text(json.dumps([{"script": "train.py", "causes": ["healthy"]}]))
    (row,) = foreign.labelled(tmp_path)
    assert row["verdict"] == "healthy"
    (found,) = records(tmp_path, row, detection=False)
    assert isinstance(found, Record)
    assert found.signals["train/loss"] == 30


def said(verdict: str, causes: list[str], answers: list[tuple[str, float]], **more: Any) -> Record:
    row = {"id": str(more), "verdict": verdict, "causes": causes, "cause": causes[-1], "fault": "f", "setting": "s",
           "onset": 0.0, "harm": 0.5, "style": "bare"}  # fmt: skip
    return Record(row, "loss", True, more.get("health", "healthy"), answers, more.get("findings", []), {})


def test_counting() -> None:
    alarm = [{"slug": "loss-plateaus", "severity": "medium", "onset": 1, "message": ""}]
    scored = [
        said("hurts", ["dead-relus"], [("healthy", 0.5), ("dead-relus", 0.5)]),
        said(
            "hurts", ["dead-relus"], [("dead-relus", 0.75), ("healthy", 0.25)], health="sick", findings=alarm
        ),
        said("healthy", ["healthy"], [("healthy", 1.0)], health="sick", findings=alarm),
        said("healthy", ["healthy"], [("healthy", 1.0)]),
    ]
    m = tables.Material([r.row for r in scored], scored, [], tables.Counter())
    assert [r.rank() for r in scored] == [2, 1, 1, 1]
    assert "| all a log holds | 2 | 1 of 2 (50 %) | 2 of 2 (100 %) |" in tables.ranking(m)
    assert (
        "| all a log holds | 1 of 2 (50 %) | 1 of 2 (50 %) | 0 of 2 (0 %) | 1 of 2 (50 %) |"
        in tables.health(m)
    )
    assert "| loss-plateaus | 1 of 2 (50 %) | s 1 |" in tables.alarms(m)
    assert "calibration error 0.188" in tables.calibration(m)  # (|0.5 - 0| + |0.75 - 1| + 0 + 0) / 4
    assert "| dead-relus | healthy | 1 |" in tables.confusion(m)
    assert "| dead-relus | f | 1 of 2 (50 %) | 0.50 |" in tables.unseen(m)
