"""What is recorded for a yardstick, and what else only the script itself shows: weights in a loss, broadcasts, layers
in lists, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.capture.torch.measure.test_by_launch import run_of  # noqa: E402 - needs torch
from traindx.capture.arrays.batch import Reservoir  # noqa: E402

TRAIN = """
for i in range(60):
    optimizer.zero_grad()
    {loss}.backward()
    optimizer.step()
"""
PLAIN = "F.cross_entropy(net(x[i * 24 % 240:][:24]), y[i * 24 % 240:][:24])"


def test_simple_predictors_are_fitted_when_the_run_is_over(tmp_path: Path) -> None:
    """The class is the largest of three inputs: a linear model has most of it."""
    setup = run_of(TRAIN.format(loss=PLAIN), tmp_path).setup
    assert setup.number("reference_linear_accuracy") == pytest.approx(0.9, abs=0.12)
    assert setup.number("reference_trivial_accuracy") == pytest.approx(0.35, abs=0.15)
    assert (
        40 <= (setup.number("reference_samples_held") or 0) <= 80
    )  # of 240 at most: seen again, a sample is known
    assert setup.number("reference_seconds") is not None


def test_inputs_and_targets_may_come_apart() -> None:
    """Targets that arrive after their inputs, of flattened tokens too; a picture of targets is not kept."""
    tokens = np.random.default_rng(0).integers(0, 5, (40, 9))
    kept = Reservoir()
    kept.add(tokens[:, :-1], None)
    kept.add(None, tokens[:, 1:].reshape(-1))
    assert kept.facts()["reference_unigram_entropy"] == pytest.approx(np.log(5), abs=0.1)
    pictures = Reservoir()
    pictures.add(np.zeros((8, 3, 16, 16)), np.zeros((8, 3, 16, 16)))
    assert pictures.facts() == {}


def test_weights_of_classes_are_seen(tmp_path: Path) -> None:
    weighted = PLAIN[:-1] + ", weight=torch.tensor([1.0, 5.0, 1.0]))"
    assert run_of(TRAIN.format(loss=weighted), tmp_path / "weighted").setup.flag("loss_weighted") is True
    assert run_of(TRAIN.format(loss=PLAIN), tmp_path / "plain").setup.flag("loss_weighted") is False


def test_a_label_that_the_loss_passes_over_is_no_class(tmp_path: Path) -> None:
    setup = run_of(TRAIN.format(loss=PLAIN[:-1] + ", ignore_index=2)"), tmp_path).setup
    assert setup.number("classes_seen") == 2
    assert (setup.number("label_negative_share") or 0) > 0.2


BROADCASTS = {
    "a column and a row": ("((net(x)[:, :1] - y.float()) ** 2).mean()", "240x1 to 240x240"),
    "columns": ("((net(x)[:, :1] - y.float()[:, None]) ** 2).mean()", ""),
    "pairs on purpose": ("((net(x)[:, 0][:, None] - y.float()[None]) ** 2).mean()", ""),
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_a_difference_that_is_blown_up_is_seen(name: str, tmp_path: Path) -> None:
    loss, expected = BROADCASTS[name]
    assert run_of(TRAIN.format(loss=loss), tmp_path).setup.word("loss_broadcasts") == expected


LISTED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.rest = nn.Linear(6, 8), {kind}([nn.Linear(8, 8), nn.Linear(8, 3)])
    def forward(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(x.relu())
        return x
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
"""


@pytest.mark.parametrize(("kind", "lost"), [("list", 8 * 8 + 8 + 8 * 3 + 3), ("nn.ModuleList", 0)])
def test_layers_in_a_plain_list_are_counted(kind: str, lost: int, tmp_path: Path) -> None:
    run = run_of(LISTED.format(kind=kind) + TRAIN.format(loss=PLAIN), tmp_path)
    assert run.setup.number("parameters_unregistered") == lost


RESUMED = """
torch.save({{"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}}, "half.pt")
state = torch.load("half.pt")
{restore}
"""


@pytest.mark.parametrize(
    ("restore", "model", "optimizer"),
    [
        ("net.load_state_dict(state['model']); optimizer.load_state_dict(state['optimizer'])", True, True),
        ("net.load_state_dict(state['model'])", True, False),
        ("optimizer.load_state_dict(state['optimizer'])", False, True),
        ("whole = nn.Sequential(*net); whole.load_state_dict(state['model'])", True, False),
    ],
)
def test_what_is_restored_of_a_checkpoint(
    restore: str, model: bool, optimizer: bool, tmp_path: Path
) -> None:
    part = TRAIN.format(loss=PLAIN)
    setup = run_of(part + RESUMED.format(restore=restore) + part, tmp_path).setup
    assert setup.flag("checkpoint_holds_model")
    assert setup.flag("checkpoint_holds_optimizer")
    assert setup.flag("checkpoint_restores_model") is model
    assert setup.flag("checkpoint_restores_optimizer") is optimizer


def test_weights_for_an_evaluation_are_no_resume(tmp_path: Path) -> None:
    other = "torch.save(net.state_dict(), 'best.pt'); nn.Linear(2, 2); m = nn.Sequential(nn.Linear(6, 16), nn.ReLU(),"
    other += " nn.Linear(16, 3)); m.load_state_dict(torch.load('best.pt'))"
    run = run_of(other + TRAIN.format(loss=PLAIN), tmp_path)
    assert run.setup.flag("checkpoint_restores_model") is None
