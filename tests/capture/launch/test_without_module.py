"""Trainings of plain tensors: no module is ever called. And of packages in a folder of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.launch.launching import LAUNCH, PYTHON, environment, finished, launched

pytest.importorskip("torch")

LOOP = """
import torch
torch.manual_seed(0)
x = torch.randn(64, 3)
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.002)
for _ in range(30):
    loss = (x @ w - x.sum(1)).square().mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("end", "missing"), [("", 29), ("    optimizer.zero_grad()\n", 0)])
def test_gradients_of_plain_tensors_are_seen_to_add_up(end: str, missing: int, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LOOP + end)
    done = launched("", tmp_path, command=[PYTHON, "script.py"])
    setup = done.run().setup
    assert (setup.number("zero_grad_missing_steps"), setup.number("zero_grad_checked_steps")) == (
        missing,
        29,
    )


LIBRARY = """
def step(loss, optimizer):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
TWO_LOSSES = """
import torch
from trainer import step
a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
first, second = torch.optim.SGD([a], lr=0.01), torch.optim.SGD([b], lr=0.01)
for _ in range(10):
    step(a.square().sum(), first)
    step(5 + b.square().sum(), second)
"""


@pytest.mark.parametrize("installed", [True, False])
def test_lines_of_installed_packages_are_not_the_users(installed: bool, tmp_path: Path) -> None:
    """`pip install --target` makes a folder of packages anywhere, next to what it knows of them."""
    library = tmp_path / "library"
    (library / "trainer-1.0.dist-info" if installed else library / "notes").mkdir(parents=True)
    (library / "trainer.py").write_text(LIBRARY)
    (tmp_path / "script.py").write_text(TWO_LOSSES)
    start = [PYTHON, "-c", LAUNCH, str(tmp_path / "run"), "0", "0", PYTHON, "script.py"]
    done = finished(start, tmp_path, {**environment(""), "PYTHONPATH": str(library)})
    run = done.run()
    assert ("train/script.py:8_loss" in run.series) == installed
    assert str(run.setup.facts["where/backward"]).startswith("script.py:") == installed
