"""Several trainings in one script of PyTorch: each has a record of its own, and the script notices nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx import pipeline
from traindx.vocabulary.run import Run

pytest.importorskip("torch")

HEAD = """
import json
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(240, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
losses = []

def net(width=16):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 3))

def step(model, optimizer, rows):
    loss = F.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses[-1].append(loss.item())
"""
ENDS = "\nprint(json.dumps(losses))\n"
FOLDS = """
for fold in range(3):
    losses.append([])
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2 / (1 + fold))
    for epoch in range(5):
        for rows in torch.randperm(240)[80:].split(40):
            step(model, optimizer, rows)
"""
FUNCTION = """
def train(width):
    losses.append([])
    model = net(width)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(5):
        for rows in torch.randperm(240).split(40):
            step(model, optimizer, rows)

[train(width) for width in (4, 64)]
"""
PHASES = """
small = net(4)
first = torch.optim.SGD(small.parameters(), 0.1)
losses.append([])
for i in range(30):
    step(small, first, torch.arange(i, i + 40))
large = net(64)
second = torch.optim.Adam(large.parameters(), 1e-2)
losses.append([])
for i in range(40):
    step(large, second, torch.arange(i, i + 40))
"""
MAIN = "\ndef main():" + PHASES.replace("\n", "\n    ") + "\nmain()\n"
PROBED = """
losses.append([])
model = net()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(10):
    for rows in torch.randperm(240).split(40):
        step(model, optimizer, rows)
    if epoch % 3 == 2:
        probe = nn.Linear(16, 3)
        other = torch.optim.SGD(probe.parameters(), 0.1)
        for i in range(20):
            other.zero_grad()
            F.cross_entropy(probe(model[:2](x).detach()), y).backward()
            other.step()
"""
ANEW = """
losses.append([])
model = net()
rate = 0.1
for epoch in range(8):
    optimizer = torch.optim.SGD(model.parameters(), rate)
    rate *= 0.9
    for rows in torch.randperm(240).split(40):
        step(model, optimizer, rows)
"""
HEAD_FIRST = """
base = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
decoder = nn.Linear(16, 8)
optimizer = torch.optim.Adam([*base.parameters(), *decoder.parameters()], 1e-2)
losses.append([])
for i in range(30):
    loss = F.mse_loss(decoder(base(x)), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses[-1].append(loss.item())
base.requires_grad_(False)
model = nn.Sequential(base, nn.Linear(16, 3))
optimizer = torch.optim.Adam(model[1].parameters(), 1e-2)
losses.append([])
for i in range(40):
    step(model, optimizer, torch.arange(i, i + 40))
base.requires_grad_(True)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
losses.append([])
for i in range(20):
    step(model, optimizer, torch.arange(i, i + 40))
"""
TINY = """
for i in range(4):
    losses.append([])
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for i in range(40 if len(losses) == 1 else 5):
        step(model, optimizer, torch.arange(i, i + 40))
"""


def started(script: str, folder: Path, *under: str) -> str:
    (folder / "train.py").write_text(script)
    home = str(Path(traindx.__file__).parents[1])
    done = subprocess.run(
        [*under, sys.executable, "train.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": home},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "traindx" not in done.stderr, done.stderr
    return done.stdout


def recorded(script: str, folder: Path, *options: str) -> tuple[list[list[float]], list[Run]]:
    """(losses of each training as the script had them, the runs of the record)."""
    plain = started(HEAD + script + ENDS, folder)
    under = (sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", *options, "--")
    seen = started(HEAD + script + ENDS, folder, *under)
    assert options or seen.startswith(plain)
    return json.loads(plain), list(pipeline.read_all(folder / "run"))


@pytest.mark.parametrize("script", [FOLDS, FUNCTION, PHASES, MAIN, HEAD_FIRST])
def test_each_training_has_its_record(script: str, tmp_path: Path) -> None:
    losses, runs = recorded(script, tmp_path)
    assert len(runs) == len(losses) > 1
    for known, run in zip(losses, runs, strict=True):
        np.testing.assert_allclose(run.series["train/loss"].values, known, rtol=2e-7)
        assert run.series["lr"].steps.tolist() == list(range(1, len(known) + 1))
        assert run.setup.word("seeds_set") == "torch"
        assert run.setup.number("optimizers") is None  # of which each training has one


@pytest.mark.parametrize("script", [PROBED, ANEW])
def test_what_goes_on_stays_one_record(script: str, tmp_path: Path) -> None:
    losses, (run,) = recorded(script, tmp_path)
    np.testing.assert_allclose(run.series["train/loss"].values, losses[0], rtol=2e-7)
    assert run.setup.number("optimizers") == (4 if script is PROBED else None)
    if script is ANEW:
        np.testing.assert_allclose(run.series["lr"].values, 0.1 * 0.9 ** (np.arange(48) // 6), rtol=1e-6)


def test_what_is_frozen_after_a_first_training_is_not_expected_to_change(tmp_path: Path) -> None:
    _, runs = recorded(HEAD_FIRST, tmp_path, "--every", "2")
    assert [run.setup.number("frozen_weights_drawn") for run in runs] == [None, 0, None]
    assert [run.setup.number("parameters_frozen") for run in runs] == [0, 16 * 8 + 16, 0]
    said = {
        f.slug for run in pipeline.diagnose(runs).document.runs for f in run.findings if f.severity != "info"
    }
    assert not said & {"parameters-never-change", "parameters-frozen", "parameters-missing-from-optimizer"}


def test_an_experiment_is_about_the_first_training(tmp_path: Path) -> None:
    _, runs = recorded(FOLDS, tmp_path, "--steps", "10")
    assert len(runs) == 1


def test_a_few_steps_are_no_record(tmp_path: Path) -> None:
    losses, runs = recorded(TINY, tmp_path)
    assert [len(run.series["train/loss"]) for run in runs] == [40, 5]
    assert len(losses) == 4


PAIRS = """
model = net()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
losses.append([])
for i in range(40):
    rows = torch.arange(i, i + 40)
    a, b = model(x[rows]), model(x[rows + 40])
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses[-1].append(loss.item())
    if i % 10 == 9:
        with torch.no_grad():
            a, b = model.eval()(x), model(x.flip(0))
            {loss}
        model.train()
"""


@pytest.mark.parametrize(
    ("loss", "known"),
    [
        ("F.margin_ranking_loss(a.norm(dim=1), b.norm(dim=1), torch.ones(len(a)), margin=1.0)", False),
        ("F.triplet_margin_loss(a, b, b.flip(0))", False),
        ("F.cosine_embedding_loss(a, b, torch.ones(len(a)))", False),
        ("F.mse_loss(a, x[:len(a), :3])", True),
    ],
)
def test_an_output_that_another_is_compared_with_is_no_target(
    loss: str, known: bool, tmp_path: Path
) -> None:
    (run,) = recorded(PAIRS.format(loss=loss), tmp_path)[1]
    assert bool(run.setup.word("loss_target_shape")) == known
    assert known or run.setup.number("targets_std") is None
    assert "val/loss" in run.series


ADAPTED = """
import torch
from torch.nn.functional import mse_loss
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
for weight in model.parameters():
    torch.nn.init.zeros_(weight)
for _ in range(3):
    optimizer.zero_grad()
    mse_loss(model(torch.ones(4, 1)), torch.ones(4, 1)).backward()
    optimizer.step()
    for target in (1.0, 2.0, 3.0):
        torch.autograd.grad(mse_loss(model(torch.ones(4, 1)), torch.full((4, 1), target)), list(model.parameters()))
        with torch.no_grad():
            mse_loss(model(torch.ones(5, 1)), torch.full((5, 1), target))
"""


def test_an_evaluation_that_adapts_to_each_task_is_one(tmp_path: Path) -> None:
    """Meta-learning adapts to each task by gradients: the mean over the tasks counts, not the last of them."""
    (run,) = recorded(ADAPTED, tmp_path)[1]
    assert list(run.series["val/loss"].values) == pytest.approx([(1 + 4 + 9) / 3] * 3)


EMPTY = """
import torch
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
chosen = torch.arange({first}, 4)
for _ in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 3))[chosen], torch.tensor([0, 1, 1, 0])[chosen])
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("first", "shape"), [(4, "0"), (2, "2")])
def test_a_loss_over_an_empty_selection_is_described(first: int, shape: str, tmp_path: Path) -> None:
    (run,) = recorded(EMPTY.format(first=first), tmp_path)[1]
    assert run.setup.word("loss_target_shape") == shape
    assert bool(run.setup.word("loss_input")) == (shape != "0")
    assert not any(e.code == "capture-failed" for e in run.events)
