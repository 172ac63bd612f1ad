"""What a step is made of: how many samples went into it."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

import traindx  # noqa: E402
from tests.capture.session.test_session import net, read  # noqa: E402


@pytest.mark.parametrize("positions", [1, 5])
def test_positions_of_a_sequence_share_a_batch(tmp_path: Path, positions: int) -> None:
    """Whatever is generated in between, with gradients enabled, is no batch either."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1):
        for _ in range(20):
            optimizer.zero_grad()
            losses = [
                functional.cross_entropy(model(torch.randn(8, 6)), torch.zeros(8, dtype=torch.long))
                for _ in range(positions)
            ]
            torch.stack(losses).sum().backward()
            optimizer.step()
            for _ in range(3):
                model(torch.randn(1, 6))
    assert read(tmp_path).setup.batch_size == 8
