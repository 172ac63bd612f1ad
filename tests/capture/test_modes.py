"""Modes of dropout and normalization, in training and in evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import traindx  # noqa: E402


def test_evaluating_and_training_in_the_wrong_mode(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3)).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path):
        for _ in range(4):
            model(torch.randn(4, 6)).sum().backward()
            optimizer.step()
        model.train()
        with torch.no_grad():
            model(torch.randn(4, 6))
    setup = traindx.read(tmp_path).setup
    assert setup.number("steps_in_eval_mode_share") == 1
    assert setup.flag("model_training_mode_during_backward") is False
    assert setup.number("validation_in_train_mode_share") == 1


@pytest.mark.parametrize(
    ("layer", "matters"),
    [(nn.Dropout(0.1), True), (nn.BatchNorm1d(8), True), (nn.Dropout(0.0), False), (nn.LayerNorm(8), False),
     (nn.BatchNorm1d(8, track_running_stats=False), False), (nn.InstanceNorm1d(8), False)],
)  # fmt: skip
def test_the_mode_of_an_evaluation_is_told_where_it_matters(tmp_path: Path, layer: nn.Module, matters: bool) -> None:
    model = nn.Sequential(nn.Linear(6, 8), layer, nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path):
        model(torch.randn(4, 6)).sum().backward()
        optimizer.step()
        with torch.no_grad():
            model(torch.randn(4, 6))
    told = traindx.read(tmp_path).setup.number("validation_in_train_mode_share")
    assert told == (1 if matters else None)
