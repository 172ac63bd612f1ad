"""What a loop keeps with its graph is named, with the line that adds to it; what it drops is not."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.capture.launch.launching import attached  # noqa: E402
from traindx import pipeline  # noqa: E402
from traindx.capture.torch.measure.loss.retained_graphs import RetainedGraphs  # noqa: E402

STEPS = 40


def loss_of(model: Any) -> Any:
    return model(torch.ones(2, 4)).square().mean()


def listed(model: Any, keeping: RetainedGraphs) -> None:
    losses = []
    for step in range(STEPS):
        loss = loss_of(model)
        losses.append(loss)
        keeping.look(step, sys._getframe())


def summed(model: Any, keeping: RetainedGraphs) -> None:
    total = 0.0
    for step in range(STEPS):
        total = total + loss_of(model)
        keeping.look(step, sys._getframe())


def by_name(model: Any, keeping: RetainedGraphs) -> None:
    history: dict[str, list[Any]] = {"loss": []}
    for step in range(STEPS):
        history["loss"].append(loss_of(model))
        keeping.look(step, sys._getframe())


class Trainer:
    def __init__(self) -> None:
        self.outputs: list[Any] = []

    def fit(self, model: Any, keeping: RetainedGraphs) -> None:
        for step in range(STEPS):
            self.outputs += [loss_of(model)]
            keeping.look(step, sys._getframe())


def numbers(model: Any, keeping: RetainedGraphs) -> None:
    losses, total, kept = [], 0.0, torch.zeros(())
    for step in range(STEPS):
        loss = loss_of(model)
        losses.append(loss.item())
        total, kept = total + float(loss.detach()), kept + loss.detach()
        keeping.look(step, sys._getframe())


def window(model: Any, keeping: RetainedGraphs) -> None:
    """The last few are kept, as a moving objective does."""
    last: list[Any] = []
    for step in range(STEPS):
        last = [*last[-3:], loss_of(model)]
        keeping.look(step, sys._getframe())


def two_networks(model: Any, keeping: RetainedGraphs) -> None:
    """The second loss is made for the first time after some steps of the first network."""
    for step in range(STEPS):
        if step % 20 >= 10:
            error = loss_of(torch.nn.Sequential(model, torch.nn.Linear(1, 1), *[torch.nn.Tanh()] * 20))
            error.backward()
        keeping.look(step, sys._getframe())


def episodes(model: Any, keeping: RetainedGraphs) -> None:
    """The graph of one step is as long as an episode, and episodes get longer."""
    for step in range(STEPS):
        states = [torch.zeros(2, 4)]
        for _ in range(4 * step + (13 * step) % 31):
            states.append(states[-1] + loss_of(model))
        keeping.look(step, sys._getframe())


@pytest.mark.parametrize(
    ("loop", "name", "line"),
    [(listed, "losses", "losses.append(loss)"), (summed, "total", "total = total + loss_of(model)"),
     (by_name, "history", 'history["loss"].append(loss_of(model))'),
     (Trainer().fit, "self.outputs", "self.outputs += [loss_of(model)]")],
)  # fmt: skip
def test_it_is_named_with_its_line(loop: Callable[..., None], name: str, line: str) -> None:
    keeping = RetainedGraphs()
    loop(torch.nn.Linear(4, 1), keeping)
    assert keeping.facts["graphs_kept_by"] == name
    place = str(keeping.facts["graphs_kept_at"])
    shown = Path(__file__).read_text().splitlines()[int(place.rpartition(":")[2]) - 1]
    assert place.startswith("tests/capture/torch/test_keeping.py:")
    assert shown.strip() == line


@pytest.mark.parametrize("loop", [numbers, window, two_networks, episodes])
def test_what_is_dropped_is_not(loop: Callable[..., None]) -> None:
    keeping = RetainedGraphs()
    loop(torch.nn.Linear(4, 1), keeping)
    assert keeping.facts == {"graphs_kept": 0}


def test_looking_keeps_nothing_alive() -> None:
    """Before Python 3.13 a frame keeps the table of its variables that was asked for."""
    keeping, model = RetainedGraphs(), torch.nn.Linear(4, 1)

    def step() -> weakref.ref[Any]:
        loss = loss_of(model)
        keeping.look(8, sys._getframe())
        found = weakref.ref(loss)
        del loss
        gc.collect()
        return found

    assert step()() is None


SCRIPT = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(640, 6)
running = 0.0
for step in range(60):
    rows = x[10 * step:10 * step + 10]
    loss = (model(rows) - rows[:, :1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss{end}
"""


@pytest.mark.parametrize(("end", "fires"), [("", True), (".item()", False)])
def test_scripts(tmp_path: Path, end: str, fires: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(end=end))
    (tmp_path / "out").mkdir()
    run = attached(script, tmp_path / "out").run()
    found = {f.slug: f for f in pipeline.diagnose([run]).first.findings}
    assert ("graph-is-kept" in found) == fires
    if fires:
        assert "running (train.py:14)" in found["graph-is-kept"].message
