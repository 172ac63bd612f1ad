"""Every example of docs/callbacks.md, executed as it is printed there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import traindx

PAGE = (Path(__file__).parents[2] / "docs" / "callbacks.md").read_text(encoding="utf-8")
LIMIT = 180  # seconds after which an example that hangs is a failure
EXAMPLES = dict(re.findall(r"^## (\S.*?)\n.*?^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
NEEDS = {
    "Lightning": ("torch", "lightning"),
    "Hugging Face": ("torch", "transformers", "accelerate"),
    "Keras": ("keras", "jax"),
    "optax": ("jax", "optax"),
    "XGBoost": ("xgboost",),
}


def test_every_section_has_an_example() -> None:
    assert set(EXAMPLES) == set(NEEDS)
    assert re.findall(r"^## (.*)$", PAGE, re.MULTILINE) == list(EXAMPLES)


def test_every_callback_has_a_section() -> None:
    assert [name for name in traindx.CALLBACKS if f"traindx.{name}." not in PAGE] == []


@pytest.mark.parametrize("section", NEEDS)
def test_an_example_runs_and_leaves_a_record(section: str, tmp_path: Path) -> None:
    missing = [name for name in NEEDS[section] if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLES[section]],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert "runs/exp1" in done.stdout
    run = traindx.read(tmp_path / "runs" / "exp1")
    assert len(run.series["train/loss"]) >= 5
    assert run.boosted or section == "Hugging Face" or "grad_norm" in run.series or "grad_norm" in run.panels
