"""Quantization that is taken out from outside, against the same script written without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.capture.interventions.test_processes import experiment, recorded
from tests.capture.launch.launching import PYTHON, environment as clean, finished
from traindx.capture.interventions import parse
from traindx.errors import ConfigError

SCRIPT = """
import json, sys
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)
START = int(sys.argv[1])  # steps without quantization
step = 0

class Ternary(nn.Linear):
    def forward(self, x):
        w = self.weight
        if step >= START:
            scale = w.abs().mean()
            w = w + ((w / scale).round().clamp(-1, 1) * scale - w).detach()
        return F.linear(x, w, self.bias)

net = nn.Sequential(Ternary(12, 32), nn.ReLU(), Ternary(32, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(640, 12)
y = x[:, :3].argmax(1)
losses = []
for step in range(40):
    rows = slice(16 * step, 16 * step + 16)
    loss = F.cross_entropy(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
json.dump(losses, open("losses.json", "w"))
"""


def losses(folder: Path, start: int, *specs: str) -> list[float]:
    """Of the script that begins to quantize after so many steps, with interventions or as it is."""
    folder.mkdir()
    script = folder / "train.py"
    script.write_text(SCRIPT)
    command = [PYTHON, "train.py", str(start)]
    if not specs:
        done = finished(command, folder, clean(""))
        assert done.status == 0, done.err.decode()
        return list(json.loads((folder / "losses.json").read_text()))
    status, _, err = experiment(folder, *specs, command=command)
    assert status in (0, 1), err
    return list(recorded(folder).series["train/loss"].values)


def test_without_quantization_it_is_the_script_without_it(tmp_path: Path) -> None:
    assert losses(tmp_path / "a", 0, "quant=off") == losses(tmp_path / "b", 999)


def test_quantization_begins_later(tmp_path: Path) -> None:
    changed = losses(tmp_path / "a", 0, "quant.start=15")
    assert changed == losses(tmp_path / "b", 15)
    assert changed == losses(tmp_path / "c", 0, "quant.start=0.375", "steps=40")


def test_a_script_without_quantization_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    losses(folder, 999, "quant=off")
    unused = [event.message for event in recorded(folder).events if event.code == "intervention-unused"]
    assert unused == ["quant=off changed nothing: no weight was used quantized"]


@pytest.mark.parametrize("spec", ["quant=on", "quant.start=earlier", "quant.start=-3", "quant.bits=4"])
def test_what_cannot_be_done_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError):
        parse([spec])
