"""What must be said of small logs, and what must not, one log for each statement of the requirements."""

from __future__ import annotations

from pathlib import Path

from tests.requirements.logs import FALLING, by_slug, said
from traindx import pipeline


def test_a_score_that_stays_poor_is_named(tmp_path: Path) -> None:
    loss = [5.41, 4.51, 4.37, 4.36, 4.26, 4.22]
    poor = said(tmp_path, "epoch", 1, loss=loss, val_accuracy=[0.24, 0.247, 0.247, 0.25, 0.255, 0.252])
    assert "val/accuracy has stopped improving at about 0.252" in by_slug(poor)["loss-plateaus"].message
    rising = said(tmp_path, "epoch", 1, loss=loss, val_accuracy=[0.1, 0.15, 0.2, 0.25, 0.3, 0.35])
    assert "loss-plateaus" not in by_slug(rising)


def starts(folder: Path, *lengths: int) -> list[str]:
    """The health of each run in a log that holds starts of these lengths."""
    lines = [f"step {i} loss {FALLING[i]:.4f}" for n in lengths for i in range(n)]
    (folder / "train.log").write_text("\n".join(lines))
    return [run.health for run in pipeline.diagnose(pipeline.read_all(folder / "train.log")).document.runs]


def test_a_start_that_was_given_up_has_no_verdict(tmp_path: Path) -> None:
    assert starts(tmp_path, 2, 3, 150) == ["healthy"]
    assert len(starts(tmp_path, 3, 30)) == 2  # not much longer
    assert len(starts(tmp_path, 150, 3)) == 2  # it may still run
