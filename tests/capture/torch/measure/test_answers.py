"""Answers of training batches, gains of initial weights and the grid of gradients, against naive computing."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import traindx  # noqa: E402
from tests.capture.launch.launching import PYTHON, launched  # noqa: E402
from traindx.capture.torch.measure.batches.answers import READ, Matched  # noqa: E402
from traindx.capture.torch.measure.gradients.norms_and_updates import Grid  # noqa: E402
from traindx.capture.torch.measure.models.initial_weights import FirstWeights, initial_gains  # noqa: E402

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
for epoch in range(6):
    for a, b in loader:
        optimizer.zero_grad()
        p = torch.softmax(model(a), 1)
        loss = (1 - p[torch.arange(len(b)), b]).mean()
        loss.backward()
        optimizer.step()
"""


def pair(output: torch.Tensor, target: object, **options: bool) -> dict[str, float]:
    matched = Matched()
    matched.record_targets(target)
    matched.record_output(output)
    return {name: float(value) for name, value in matched.take(**options).items()}


def naive(scores: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Row by row, in double precision."""
    right, loss, contradicted = [], [], []
    for row, label in zip(scores.astype(float), labels, strict=True):
        if not 0 <= label < len(row):
            continue
        p = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
        right.append(row.argmax() == label)
        loss.append(-math.log(p[label]))
        contradicted.append(p[label] < 0.1 * p.max())
    there = labels[(labels >= 0) & (labels < scores.shape[1])]
    recalls = [
        np.mean([r for r, one in zip(right, there, strict=True) if one == label]) for label in set(there)
    ]
    return {"outputs_accuracy": np.mean(right), "outputs_balanced_accuracy": np.mean(recalls),
            "outputs_contradict_share": np.mean(contradicted),
            "outputs_cross_entropy": np.mean(loss)}  # fmt: skip


def test_classes_are_compared_row_by_row() -> None:
    generator = torch.Generator().manual_seed(0)
    scores, labels = (
        3 * torch.randn(50, 5, generator=generator),
        torch.randint(0, 5, (50,), generator=generator),
    )
    labels[:4] = -100
    found = pair(scores, labels)
    assert found == pytest.approx(naive(scores.numpy(), labels.numpy()), rel=1e-5)
    images = pair(scores.reshape(5, 10, 5).movedim(2, 1), labels.reshape(5, 10))
    assert images == pytest.approx(found, rel=1e-5)
    assert pair(scores.reshape(5, 10, 5), [labels.reshape(5, 10)]) == pytest.approx(found, rel=1e-5)


def test_of_very_many_outputs_some_rows_represent_all() -> None:
    scores = torch.zeros(READ, 2)
    scores[:, 1] = 1.0
    found = pair(scores, torch.ones(READ, dtype=torch.long))
    assert found["outputs_accuracy"] == 1.0
    assert "outputs_cross_entropy" not in found


def test_numbers_are_explained_in_part() -> None:
    generator = torch.Generator().manual_seed(1)
    wanted = torch.randn(400, generator=generator)
    noise = torch.randn(400, generator=generator)
    assert pair(wanted[:, None], wanted)["outputs_explained"] == pytest.approx(1.0)
    assert pair(torch.full((400, 1), float(wanted.mean())), wanted)["outputs_explained"] == pytest.approx(
        0.0, abs=1e-5
    )
    expected = 1 - float((0.5 * noise).square().sum() / (wanted - wanted.mean()).square().sum())
    assert pair(wanted + 0.5 * noise, wanted)["outputs_explained"] == pytest.approx(expected, rel=1e-4)


def test_two_classes_by_one_number() -> None:
    scores, labels = torch.tensor([2.0, -1.0, 0.4, -3.0]), torch.tensor([1.0, 1.0, 1.0, 0.0])
    found = pair(scores, labels)
    assert found["outputs_accuracy"] == 0.75
    each = [
        math.log1p(math.exp(-s if y else s)) for s, y in zip(scores.tolist(), labels.tolist(), strict=True)
    ]
    assert found["outputs_cross_entropy"] == pytest.approx(np.mean(each), rel=1e-5)
    assert pair(scores, labels, probabilities=True)["outputs_accuracy"] == 0.5
    assert found["outputs_balanced_accuracy"] == pytest.approx((2 / 3 + 1) / 2)
    assert "outputs_explained" not in found


def test_one_class_alone_shows_nothing_of_the_others() -> None:
    common = pair(torch.tensor([[2.0, 0.0]] * 9 + [[0.0, 1.0]]), torch.tensor([0] * 9 + [1]))
    assert common["outputs_balanced_accuracy"] == 1.0
    always = pair(torch.tensor([[2.0, 0.0]] * 10), torch.tensor([0] * 9 + [1]))
    assert (always["outputs_accuracy"], always["outputs_balanced_accuracy"]) == pytest.approx((0.9, 0.5))
    assert math.isnan(
        pair(torch.tensor([[2.0, 0.0]] * 10), torch.zeros(10, dtype=torch.long))["outputs_balanced_accuracy"]
    )


@pytest.mark.parametrize(
    ("output", "target"),
    [
        (torch.zeros(4, 3), torch.zeros(5, dtype=torch.long)),
        (torch.zeros(4, 3), torch.zeros(4)),
        (torch.zeros(4), torch.zeros(4, dtype=torch.long)),
        (torch.zeros(4, 3), None),
        (torch.zeros(4, 3, dtype=torch.long), torch.zeros(4, dtype=torch.long)),
    ],
)
def test_outputs_and_targets_that_do_not_match_give_nothing(output: torch.Tensor, target: object) -> None:
    assert pair(output, target) == {}


def test_a_pair_counts_once() -> None:
    matched = Matched()
    matched.record_targets(torch.zeros(4, dtype=torch.long))
    matched.record_output(torch.zeros(4, 3))
    assert matched.take()
    assert matched.take() == {}


def test_a_hand_written_loss_has_accuracy_and_cross_entropy_too(tmp_path: Path) -> None:
    """The loader's second tensor is what the answers are compared with, as no loss function shows."""
    (tmp_path / "train.py").write_text(SCRIPT)
    run = launched("", tmp_path, command=[PYTHON, "train.py"]).run()
    late = run.series["outputs_accuracy"].values[-3:]
    assert float(np.median(late)) > 0.8
    assert float(run.series["outputs_accuracy"].values[0]) < 0.8
    assert run.setup.number("classes_seen") == 4


def test_the_loss_of_cross_entropy_is_the_cross_entropy(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for _ in range(60):
            x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
            watch.batch(x, y)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
    run = traindx.read(tmp_path)
    found, loss = run.series["outputs_cross_entropy"], run.series["train/loss"]
    losses = loss.values[np.searchsorted(loss.steps, found.steps)]
    np.testing.assert_allclose(found.values, losses, rtol=1e-5)
    assert len(found) > 4


@pytest.mark.parametrize(("dtype", "name"), [(torch.float16, "float16"), (torch.bfloat16, "bfloat16")])
@pytest.mark.parametrize("scale", [1.0, 2.0**-20, 2.0**16])
def test_values_rounded_to_a_format_are_known_by_their_bits(
    dtype: torch.dtype, name: str, scale: float
) -> None:
    grid = Grid()
    grid.read(
        (torch.randn(500, generator=torch.Generator().manual_seed(2)).to(dtype).float() * scale).numpy()
    )
    assert grid.name == name


def test_full_values_few_values_and_odd_values_are_on_no_grid() -> None:
    fine, few, odd = Grid(), Grid(), Grid()
    fine.read(torch.randn(500).numpy())
    few.read(torch.ones(20).numpy())
    odd.read(np.array([np.inf, np.nan, 0.0] * 100, np.float32))
    assert [fine.name, few.name, odd.name] == ["", "", ""]
    assert not fine.possible


def test_gains_are_those_of_theory() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(400, 300), nn.ReLU(), nn.Conv1d(64, 32, 5), nn.Linear(300, 10))
    nn.init.kaiming_normal_(model[0].weight)
    nn.init.normal_(model[3].weight, std=1e-3)
    found = initial_gains([model])
    assert found["initial_gain_max"] == pytest.approx(math.sqrt(2), rel=0.02)
    assert found["initial_gain_max_name"] == "0.weight"
    assert found["initial_gain_min"] == pytest.approx(1e-3 * math.sqrt(300), rel=0.05)
    nn.init.zeros_(model[3].weight)
    assert initial_gains([model])["initial_gain_min"] == pytest.approx(
        1 / math.sqrt(3), rel=0.05
    )  # uniform to 1 / sqrt(n)
    assert initial_gains([nn.Embedding(10, 4)]) == {}


def classes(net: nn.Module, steps: int) -> None:
    """Train `net` on whether the first inputs are larger than the others."""
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], 0.01)
    for _ in range(steps):
        x = torch.randn(64, 32)
        loss = nn.functional.cross_entropy(net(x), (x[:, :4].sum(1) > x[:, 4:8].sum(1)).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize(
    ("trained", "moves", "drawn"), [(False, False, 1.0), (True, False, 0.0), (False, True, 0.0)]
)
def test_weights_that_were_never_trained_are_as_even_as_random_draws(
    trained: bool, moves: bool, drawn: float
) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))
    classes(net, 300 if trained else 0)
    net[0].requires_grad_(False)
    first = FirstWeights()
    first.inspect(dict(enumerate(net.parameters())))
    if moves:  # an average of other weights
        net[0].weight.mul_(0.9)
    facts = first.facts(dict(enumerate(net.parameters())))
    assert facts == {"initial_weights_drawn": 0.0 if trained else 1.0, "frozen_weights_drawn": drawn}


@pytest.mark.parametrize("weight", [nn.init.orthogonal_, nn.init.xavier_normal_, nn.init.kaiming_uniform_])
def test_every_initialization_is_a_random_draw(weight: Callable[[torch.Tensor], torch.Tensor]) -> None:
    torch.manual_seed(0)
    first = FirstWeights()
    first.inspect({0: weight(torch.empty(16, 3, 5, 5).flatten(1)), 1: nn.LSTM(20, 30).weight_ih_l0})
    assert first.facts({}) == {"initial_weights_drawn": 1.0}


def test_masks_and_padding_are_no_weights() -> None:
    first = FirstWeights()
    mask = nn.Parameter(torch.ones(16, 16), requires_grad=False)
    padded = nn.Embedding(20, 16, padding_idx=0).weight
    first.inspect({0: mask, 1: padded, 2: torch.ones(4)})
    assert first.facts({0: mask}) == {"initial_weights_drawn": 1.0, "frozen_weights_drawn": 0.0}
