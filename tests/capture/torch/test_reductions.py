"""How a loss reduces is read from the arguments of today and from those of older programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.capture.launch.launching import attached  # noqa: E402

SCRIPT = """
import torch
from torch.nn import functional
torch.manual_seed(0)
model = torch.nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(96, 6)
for epoch in range(4):
    model.train()
    for rows in x.split(16):
        optimizer.zero_grad()
        loss = functional.mse_loss(model(rows), rows[:, :3], {how}) / {by}
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for rows in x.flip(0)[:32].split(16):
            functional.mse_loss(model(rows), rows[:, :3], {how})
"""


@pytest.mark.parametrize(
    ("how", "by", "known"),
    [("size_average=False", "16", "sum"), ("reduction='sum'", "16", "sum"), ("reduction='mean'", "1", "mean"),
     ("size_average=True", "1", "mean")],
)  # fmt: skip
def test_a_sum_is_a_sum_in_older_words_too(how: str, by: str, known: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(how=how, by=by))
    (tmp_path / "out").mkdir()
    run = attached(script, tmp_path / "out").run()
    assert run.setup.word("loss_reduction") == known
    held = run.series["val/loss"].values
    assert np.all(held < 2 * run.series["train/loss"].values.max())  # both are of one sample
