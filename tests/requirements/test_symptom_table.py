"""Rows of the symptom table of the requirements, each as a small log, with what must be said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import FALLING, NOISE, STEPS, said
from traindx import pipeline

FLAT = np.full(STEPS, 2.3026) + 0.002 * NOISE
SPIKES = FALLING + np.where(np.arange(STEPS) % 40 == 30, 3.0, 0.0)

ROWS = {
    "loss is NaN": ({"loss": np.where(np.arange(STEPS) < 120, FALLING, np.nan)}, "loss-not-finite"),
    "loss is flat from the start": ({"loss": FLAT}, "loss-flat-from-start"),
    "loss spikes regularly": ({"loss": SPIKES}, "loss-spikes-recur"),
    "validation loss diverges": (
        {"loss": FALLING, "val_loss": np.r_[FALLING[:60], FALLING[60] + np.arange(STEPS - 60) / 100]},
        "validation-gap-grows",
    ),
    "all gradients are zero": ({"loss": FLAT, "grad_norm": np.zeros(STEPS)}, "gradient-is-zero"),
    "loss falls, then plateaus": (
        {"loss": 1.5 + np.exp(-np.arange(STEPS) / 8) + 0.002 * NOISE},
        "loss-plateaus",
    ),
    "memory grows": (
        {"loss": FALLING, "memory": 1000.0 + 20 * np.arange(STEPS)},
        "memory-grows",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_symptom_is_named(name: str, tmp_path: Path) -> None:
    columns, rule = ROWS[name]
    found = {f.slug for f in said(tmp_path, **columns).findings}
    assert rule in found, found


def test_a_loss_that_falls_with_its_validation_has_no_symptom(tmp_path: Path) -> None:
    quiet = said(tmp_path, loss=FALLING, val_loss=FALLING + 0.05, grad_norm=1 + 0.1 * np.abs(NOISE))
    assert quiet.health == "healthy"
    assert not {rule for _, rule in ROWS.values()} & {f.slug for f in quiet.findings if f.severity != "info"}


def test_a_gradient_of_zero_is_explained_by_a_cut_graph_or_dead_units(tmp_path: Path) -> None:
    run = said(tmp_path, loss=2.303 + 0.01 * NOISE, grad_norm=np.zeros(STEPS))
    assert {h.cause for h in run.hypotheses[:2]} == {"detached-graph", "dead-relus"}
    assert run.findings[0].slug == "gradient-is-zero"


@pytest.mark.parametrize(
    ("times", "rule"),
    [
        (np.where(np.arange(STEPS) < 100, 100.0, 1500.0), "step-time-jumps"),
        (100 + np.arange(STEPS) + 3 * NOISE, "step-time-creeps"),
        (100 + NOISE, None),
    ],
)
def test_a_time_without_a_name_is_the_time_of_a_step(
    times: np.ndarray, rule: str | None, tmp_path: Path
) -> None:
    lines = [f"step {i} | loss {FALLING[i]:.4f} | lr 3e-4 | {times[i]:.1f} ms" for i in range(STEPS)]
    (tmp_path / "train.log").write_text("\n".join(lines))
    read = pipeline.read_all(tmp_path / "train.log")
    found = {f.slug for f in pipeline.diagnose(read).first.findings if f.slug.startswith("step-time")}
    assert found == ({rule} if rule else set())
