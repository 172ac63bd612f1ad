"""On an accelerator, a number that comes to the host makes the training wait. Capture brings them in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traindx
from traindx.capture.process.patches import Lines
from traindx.capture.session.steps import TOGETHER
from traindx.capture.session.stream import Stream

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from tests.capture.torch.far import Far, MadeFar  # noqa: E402
from traindx.capture.torch.backend import torch_session  # noqa: E402
from traindx.capture.torch.discover.discovery import Discovery  # noqa: E402

BEFORE, STEPS = 256, 512  # steps until the first looks at data and model are over, and in all
FETCH = "backend.py"  # where rows that wait are brought to the host together

Log = Callable[[Any], None]


class Training:
    """A net of a few modules, on the host or far from it."""

    def __init__(self, far: bool) -> None:
        torch.manual_seed(0)
        place = Far if far else lambda tensor: tensor
        self.model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, 5))
        for module in self.model.modules():
            for name, parameter in list(module._parameters.items()):
                module._parameters[name] = None if parameter is None else nn.Parameter(place(parameter.data))
            for name, buffer in list(module._buffers.items()):
                module._buffers[name] = None if buffer is None else place(buffer)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.batches = [(place(torch.randn(16, 20)), place(torch.randint(0, 5, (16,)))) for _ in range(10)]

    def steps(self, first: int, last: int, log: Log) -> None:
        for i in range(first, last):
            x, y = self.batches[i % len(self.batches)]
            self.optimizer.zero_grad()
            loss = functional.cross_entropy(self.model(x), y)
            loss.backward()  # type: ignore[no-untyped-call]
            log(loss)
            self.optimizer.step()


def watched(far: bool, folder: Path) -> Counter[str]:
    """Transfers from step BEFORE to STEPS of a loop with `traindx.watch`."""
    training = Training(far)
    with traindx.watch(training.model, training.optimizer, out=folder) as watch:
        training.steps(0, BEFORE, lambda loss: watch.log(loss=loss))
        Far.seen.clear()
        training.steps(BEFORE, STEPS, lambda loss: watch.log(loss=loss))
        assert watch.session.active
        return Counter(Far.seen)


def discovered(far: bool, folder: Path) -> Counter[str]:
    """The same of a loop that does not know of it."""
    session = torch_session(folder)
    stream = Stream(lambda: session, Lines("/"), lambda _: None, lambda stage, **more: None)
    discovery = Discovery(stream)
    discovery.attach()
    try:
        training = Training(far)
        training.steps(0, BEFORE, lambda loss: None)
        Far.seen.clear()
        training.steps(BEFORE, STEPS, lambda loss: None)
        assert stream.active
        return Counter(Far.seen)
    finally:
        discovery.end()
        session.close()


@pytest.mark.parametrize("way", [watched, discovered])
def test_numbers_come_to_the_host_in_batches(
    way: Callable[[bool, Path], Counter[str]], tmp_path: Path
) -> None:
    plain = Training(far=True)
    plain.steps(0, 3, lambda loss: None)
    assert not Far.seen, "the training itself waits for numbers"
    with MadeFar():
        seen = way(True, tmp_path / "far")
    assert {place.rsplit(" ", 1)[1].split(":")[0] for place in seen} == {FETCH}, seen
    assert 0 < seen.total() <= (STEPS - BEFORE) / TOGETHER + 1, seen
    way(False, tmp_path / "here")
    far, here = (traindx.read(tmp_path / name) for name in ("far", "here"))
    for signal in ("train/loss", "lr"):
        assert len(far.series[signal].values) == STEPS
        np.testing.assert_allclose(far.series[signal].values, here.series[signal].values, rtol=1e-6)
    assert np.isfinite(far.series["grad_norm"].values).all()


def test_a_line_that_waits_is_counted() -> None:
    Far.seen.clear()
    far = Far(torch.arange(3.0))
    assert float(far.sum()) == 3.0
    assert far.cpu().tolist() == [0.0, 1.0, 2.0]
    assert Far.seen.total() == 2
