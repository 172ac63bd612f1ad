"""An edited script against the intervention that it was edited after: both are run."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from traindx.lab.judge.significance import WITHIN, agreement, compare

LOSSES = np.array([2.0, 1.5, 1.0])


def test_losses_that_agree_to_rounding_are_equal() -> None:
    found = agreement(LOSSES, LOSSES * (1 + 0.5 * WITHIN))
    assert found.same
    assert found.steps == 3
    assert found.apart == pytest.approx(0.5 * WITHIN, rel=1e-3)


def test_losses_that_part_are_not() -> None:
    found = agreement(LOSSES, LOSSES * np.array([1.0, 1.0, 1.01]))
    assert not found.same
    assert found.apart == pytest.approx(0.01 / 1.01)


def test_what_is_no_number_agrees_only_with_its_like() -> None:
    bad = np.array([2.0, np.nan, np.inf])
    assert agreement(bad, bad).same
    assert not agreement(bad, LOSSES).same
    assert not agreement(LOSSES, bad).same


def test_nothing_recorded_is_no_agreement() -> None:
    found = agreement(np.empty(0), LOSSES)
    assert not found.same
    assert found.why == "no loss was recorded"


SCRIPT = """\
import torch
from torch import nn

torch.manual_seed(1)
X, Y = torch.randn(64, 4), torch.randint(0, 3, (64,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(30):
    rows = torch.randperm(64)[:16]
    loss = nn.functional.cross_entropy(model(X[rows]), Y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("old", "new", "same", "broken"),
    [
        ("lr=0.5", "lr=0.05", True, False),
        ("lr=0.5", "lr=0.06", False, False),
        ("opt.step()", "opt.stop()", False, True),
    ],
)
def test_the_edited_script_is_run_against_the_intervention(
    tmp_path: Path, old: str, new: str, same: bool, broken: bool
) -> None:
    pytest.importorskip("torch")
    from traindx import pipeline
    from traindx.lab.conduct.attempts import conduct

    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    found = compare(
        [sys.executable, "train.py"],
        ["lr=*0.1"],
        {"train.py": SCRIPT.replace(old, new)},
        tmp_path / "records",
        conduct=conduct,
        read=pipeline.read,
        folder=project,
        steps=10,
        threads=1,
    )
    assert (found.same, found.broken) == (same, broken), found
    assert found.steps == (0 if broken else 10)
    assert (project / "train.py").read_text() == SCRIPT
