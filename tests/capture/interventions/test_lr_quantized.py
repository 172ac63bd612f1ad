"""The rate of quantized layers from outside, against the same script with its own groups."""

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
KIND, FACTOR, QUANTIZED = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "quantized"

class Ternary(nn.Linear):
    def __init__(self, width, out):
        super().__init__(width, out)
        self.size = nn.Parameter(torch.tensor(0.1))

    def forward(self, x):
        w = self.weight
        if QUANTIZED:
            inside = (w / self.size).clamp(-1, 1)
            w = (inside + (inside.round() - inside).detach()) * self.size
        return F.linear(x, w, self.bias)

net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), Ternary(32, 32), nn.ReLU(), nn.Linear(32, 3))
slow = {id(p) for p in net[2].parameters()}
groups = net.parameters()
if FACTOR != 1:
    groups = [{"params": [p], "lr": 0.02 * FACTOR if id(p) in slow else 0.02} for p in net.parameters()]
optimizer = getattr(torch.optim, KIND)(groups, lr=0.02, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 15, 0.5)
x = torch.randn(640, 12)
y = x[:, :3].argmax(1)
losses = []
for step in range(40):
    rows = slice(16 * step, 16 * step + 16)
    loss = F.cross_entropy(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
json.dump({"losses": losses, "groups": len(optimizer.param_groups), "lr": optimizer.param_groups[0]["lr"]},
          open("losses.json", "w"))
"""


def trained(
    folder: Path, kind: str, factor: float, *specs: str, quantized: str = "quantized"
) -> dict[str, object]:
    """What the script prints about itself, unchanged or with interventions."""
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    command = [PYTHON, "train.py", kind, str(factor), quantized]
    if specs:
        status, _, err = experiment(folder, *specs, command=command)
        assert status in (0, 1), err
    else:
        done = finished(command, folder, clean(""))
        assert done.status == 0, done.err.decode()
    found: dict[str, object] = json.loads((folder / "losses.json").read_text())
    return found


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_it_is_the_script_with_groups_of_its_own(tmp_path: Path, kind: str, factor: float) -> None:
    changed = trained(tmp_path / "a", kind, 1.0, f"lr.quantized=*{factor:g}")
    written = trained(tmp_path / "b", kind, factor)
    assert changed["losses"] == written["losses"]
    assert changed["groups"] == 1  # the script finds its own again
    assert changed["lr"] == 0.02 * 0.5 * 0.5


def test_as_the_identity_it_changes_nothing(tmp_path: Path) -> None:
    assert trained(tmp_path / "a", "AdamW", 1.0, "lr.quantized=*1") == trained(tmp_path / "b", "AdamW", 1.0)


def test_a_script_without_quantization_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    trained(folder, "SGD", 1.0, "lr.quantized=*0.1", quantized="plain")
    unused = [event.message for event in recorded(folder).events if event.code == "intervention-unused"]
    assert unused == ["lr.quantized=*0.1 changed nothing: no weight was used quantized"]


@pytest.mark.parametrize("spec", ["lr.quantized=0.01", "lr.quantized=*x", "lr.quantized=*-1"])
def test_what_cannot_be_done_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError):
        parse([spec])
