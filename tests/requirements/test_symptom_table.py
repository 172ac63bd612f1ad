"""Rows of the symptom table of the requirements, each as a small log, with what must be said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import FALLING, NOISE, STEPS, said

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
