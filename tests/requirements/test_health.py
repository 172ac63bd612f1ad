"""How grave a run is called: useless, sick, to be watched, or healthy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import FALLING, NOISE, STEPS, said

T = np.arange(STEPS)
FAILED = {
    "an explosion at the second point": {"loss": np.r_[7.9, 50 + 3 * NOISE[1:60]]},
    "back at its start for most of the run": {
        "loss": np.where(T < 60, FALLING, 2.6 + 0.05 * NOISE),
    },
    "no unit explains it": {"loss": 5e26 * (1 - 0.001 * np.arange(30))},
    "a few points to a hundred times the start": {"loss": [1.2, 1.1, 4.0, 31.0, 140.0, 150.0]},
}
SICK = {
    "a few points to twice the start": {"loss": [1.4, 1.25, 1.2, 1.3, 1.5, 1.7, 1.9, 2.2, 2.4]},
    "a mild rise that lasts": {
        "loss": 1.5 + 0.2 * (T > 120) * (1 - np.exp(-(T - 120) / 10)) + 0.004 * NOISE
    },
}
FINE = {
    "a first value that a mean divided by a fixed count made too small": {
        "loss": np.r_[0.069, 3 * FALLING[1:]]
    },
    "a noisy loss with a validation loss that falls each time": {
        "loss": 1.1 - 0.0006 * T + 0.4 * NOISE,
        "val_loss": 0.22 * np.exp(-T / 60) + 0.035,
    },
}


@pytest.mark.parametrize("name", FAILED)
def test_a_useless_run_failed(name: str, tmp_path: Path) -> None:
    run = said(tmp_path, **FAILED[name])
    assert (run.health, run.decision.action) == ("failed", "stop")


@pytest.mark.parametrize("name", SICK)
def test_a_run_that_may_be_saved_is_sick(name: str, tmp_path: Path) -> None:
    run = said(tmp_path, **SICK[name])
    assert (run.health, run.decision.action) == ("sick", "inspect")


@pytest.mark.parametrize("name", FINE)
def test_a_run_that_improves_is_healthy(name: str, tmp_path: Path) -> None:
    assert said(tmp_path, **FINE[name]).health == "healthy"
