"""What a session asks of PyTorch's backend alone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from traindx.capture.session.measures import Measures  # noqa: E402
from traindx.capture.torch.backend import TorchBackend  # noqa: E402 - needs torch


def test_measures_know_no_optimizer() -> None:
    backend = TorchBackend()
    measures = Measures(backend)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    measures.layout.add(backend.parts(model, "net") or ())
    assert measures.layout.modules == ["net.0", "net.2", "net.4"]
    assert len(measures.plan(None).places) == 6
