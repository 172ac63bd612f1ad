"""Groups of the held-out data: what a run records about them is what the script itself counts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from traindx import pipeline
from traindx.lab.conduct import attempts

SCRIPT = """
import json, torch
torch.manual_seed(0)
x = torch.randn(300, 3)
x[:, 2] = torch.randint(0, 2, (300,)).float()
y = (x[:, 0] + x[:, 2] * x[:, 1] > 0).long()
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(4):
    model.train()
    for rows in torch.arange(200).split(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    right = {}
    with torch.no_grad():
        for rows in torch.arange(200, 300).split(30):
            out = model(x[rows])
            held = torch.nn.functional.cross_entropy(out, y[rows])
            for group, hit in zip(x[rows, 2].tolist(), (out.argmax(1) == y[rows]).tolist()):
                right.setdefault(f"{group:g}", []).append(hit)
print(json.dumps({group: [sum(hits) / len(hits), len(hits)] for group, hits in right.items()}))
"""


def facts(tmp_path: Path, script: str, *columns: str) -> tuple[dict[str, object], str]:
    """The facts of a start, and its last line."""
    here = tmp_path / "project"
    here.mkdir()
    (here / "train.py").write_text(script)
    done = attempts.attempt(
        [sys.executable, "train.py"], tmp_path / "record", [], None, slices=columns, folder=here
    )
    assert done.conducted.ok, done.conducted.tail
    return pipeline.read(tmp_path / "record").setup.facts, done.conducted.tail.strip().splitlines()[-1]


def test_groups_of_a_column_are_those_of_the_last_evaluation(tmp_path: Path) -> None:
    found, printed = facts(tmp_path, SCRIPT, "2", "target", "0", "nothing")
    for group, (share, count) in json.loads(printed).items():
        assert found[f"slice/2/{group}"] == pytest.approx(share)
        assert found[f"slice_samples/2/{group}"] == count
    assert found["slice_measure"] == "accuracy"
    assert sum(int(v) for n, v in found.items() if n.startswith("slice_samples/target/")) == 100
    quarters = {n for n in found if n.startswith("slice/0/")}
    assert len(quarters) == 4
    assert not any("nothing" in n for n in found)


def test_targets_that_are_numbers_are_measured_by_their_squared_error(tmp_path: Path) -> None:
    script = """
import json, torch
torch.manual_seed(1)
x = torch.randint(0, 2, (64, 1)).float()
y = 3 * x + 0.1 * torch.randn(64, 1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
with torch.no_grad():
    out = model(x)
    torch.nn.functional.mse_loss(out, y)
    squares = (out - y).square()
print(json.dumps({f"{g:g}": squares[x[:, 0] == g].mean().item() for g in (0.0, 1.0)}))
"""
    found, printed = facts(tmp_path, script, "0")
    assert found["slice_measure"] == "error"
    for group, error in json.loads(printed).items():
        assert found[f"slice/0/{group}"] == pytest.approx(error, rel=1e-5)


def test_the_training_is_not_changed_by_looking(tmp_path: Path) -> None:
    plain, looked = (tmp_path / "a", tmp_path / "b")
    for place in (plain, looked):
        place.mkdir()
    facts(plain, SCRIPT)
    facts(looked, SCRIPT, "2")
    one, other = (pipeline.read(place / "record").series["train/loss"].values for place in (plain, looked))
    assert (one == other).all()
