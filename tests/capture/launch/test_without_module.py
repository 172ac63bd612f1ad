"""Trainings of plain tensors: no module is ever called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.launch.launching import PYTHON, launched

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
