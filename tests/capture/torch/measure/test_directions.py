"""Directions of gradients, answers, losses, equal units and shared samples, against numbers from theory."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import traindx  # noqa: E402
from traindx.capture.arrays.data import Batches  # noqa: E402
from traindx.capture.session.noise import noise_scale_of_pairs  # noqa: E402
from traindx.capture.torch.backend import torch_session  # noqa: E402
from traindx.capture.torch.measure.batches.answers import class_counts, rows_of, sample_spread  # noqa: E402
from traindx.capture.torch.measure.gradients.exchange import PAIRS, Directions  # noqa: E402
from traindx.capture.torch.measure.loss.graph import activations, last_activation, reduction  # noqa: E402
from traindx.capture.torch.measure.models.initial_weights import equal_units  # noqa: E402
from traindx.capture.torch.measure.tensors.shards import weighted_norm  # noqa: E402
from traindx.vocabulary.run import Run  # noqa: E402


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def quadratic(rate: float, out: Path, steps: int = 24, **options: Any) -> Run:
    """Gradient descent on half the square of the distance to zero, whose curvature is 1 everywhere."""
    weight = nn.Parameter(torch.randn(40, 30))
    holder = nn.ParameterList([weight])
    optimizer = torch.optim.SGD([weight], lr=rate, **options)
    with traindx.watch(holder, optimizer, out=out, every=1) as watch:
        for _ in range(steps):
            optimizer.zero_grad()
            loss = weight.square().sum() / 2
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
    return traindx.read(out)


@pytest.mark.parametrize(("rate", "sign"), [(0.1, 1.0), (1.5, -1.0)])
def test_gradients_turn_round_exactly_beyond_the_inverse_curvature(
    rate: float, sign: float, tmp_path: Path
) -> None:
    run = quadratic(rate, tmp_path)
    np.testing.assert_allclose(run.series["grad_cosine"].values, sign, rtol=1e-5)
    np.testing.assert_allclose(run.series["update_cosine"].values, sign, rtol=1e-5)


def test_with_momentum_the_step_is_another_direction_than_the_gradient(tmp_path: Path) -> None:
    """Heavy ball on a quadratic of curvature 1 stays on a line: v' = m v + w, w' = w - r v'."""
    run = quadratic(0.5, tmp_path, momentum=0.9)
    w, v, found = 1.0, 0.0, []
    for _ in range(24):
        before = w
        v = 0.9 * v + w
        w = w - 0.5 * v
        found.append((np.sign(w * before), np.sign(-(w - before) * w)))
    at = (run.series["grad_cosine"].steps - 2).astype(int)  # the second step of each pair
    np.testing.assert_allclose(run.series["grad_cosine"].values, [found[i][0] for i in at], rtol=1e-4)
    np.testing.assert_allclose(run.series["update_cosine"].values, [found[i][1] for i in at], rtol=1e-4)
    assert (run.series["grad_cosine"].values != run.series["update_cosine"].values).any()


def test_windows_represent_entire_parameters() -> None:
    """One small and one large parameter of independent gradients: the cosine is that of all values."""
    parameters = [nn.Parameter(torch.zeros(50)), nn.Parameter(torch.zeros(400, 500))]
    pairs = [(torch.randn_like(p), 0.5 * torch.randn_like(p)) for p in parameters]
    for place, (first, second) in enumerate(pairs):
        pairs[place] = (first, second + (3.0 if place else -3.0) * first)
    directions = Directions(device=False)
    for parameter, (first, _) in zip(parameters, pairs, strict=True):
        parameter.grad = first
    directions.first(parameters, 1.0)
    for parameter, (_, second) in zip(parameters, pairs, strict=True):
        parameter.grad = second
    found = directions.second(1.0, 0)["grad_cosine"]
    one, two = (torch.cat([pair[i].flatten() for pair in pairs]) for i in (0, 1))
    assert found == pytest.approx(float(torch.cosine_similarity(one, two, 0)), abs=0.01)


def test_noise_scale_of_steps_in_a_row() -> None:
    """Gradients g + noise with covariance S over the batch: tr(S) / |g|^2 samples."""
    rng = np.random.default_rng(1)
    signal, batch, size = rng.normal(size=3000), 16, 3000
    expected = 4.0 * size / float(signal @ signal)  # noise of variance 4 a sample and value
    pairs = []
    for _ in range(400):
        one, two = (signal + rng.normal(size=size) * 2 / batch**0.5 for _ in range(2))
        pairs.append(((one @ one + two @ two) / 2, one @ two))
    assert noise_scale_of_pairs(pairs, batch) == pytest.approx(expected, rel=0.02)
    only_noise = [
        ((one @ one + two @ two) / 2, one @ two)
        for one, two in (rng.normal(size=(2, size)) for _ in range(PAIRS))
    ]
    found = noise_scale_of_pairs(only_noise, batch)
    assert math.isnan(found) or found > 100 * batch


def test_the_loss_scale_and_clipping_do_not_enter_the_noise_scale() -> None:
    parameter = nn.Parameter(torch.zeros(500))
    signal, found = torch.randn(500), []
    for factors in ((1.0, 1.0), (64.0, 0.25)):
        directions, draw = Directions(device=False), torch.Generator().manual_seed(3)
        for _ in range(PAIRS):
            for place, factor in enumerate(factors):
                parameter.grad = (signal + torch.randn(500, generator=draw)) * factor
                out = (
                    directions.second(1 / factor, 8) if place else directions.first([parameter], 1 / factor)
                )
        assert out is not None
        found.append(out["grad_noise_scale"])
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert found[0] == pytest.approx(8 * 500 / float(signal.square().sum()), rel=0.2)


def fit(
    net: nn.Module, out: Path, *, steps: int = 30, rate: float = 0.1, classes: int = 4, seed: int = 0
) -> Run:
    draw = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    with traindx.watch(net, optimizer, out=out, every=1) as watch:
        for step in range(steps):
            x = torch.randn(64, 6, generator=draw)
            y = x[:, :classes].argmax(1)
            watch.batch(x, y)
            optimizer.zero_grad()
            loss = functional.cross_entropy(net(x), y)
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
            if step % 10 == 9:
                with torch.no_grad():
                    net(torch.randn(200, 6, generator=draw))
    return traindx.read(out)


def layers() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))


def test_answers_of_a_net_that_gives_all_samples_one_class(tmp_path: Path) -> None:
    net = layers()
    with torch.no_grad():
        net[4].weight.mul_(1e-9)
        net[4].bias.copy_(torch.tensor([0.0, 5.0, 0.0, 0.0]))
    run = fit(net, tmp_path / "one", rate=1e-6)
    for name in ("outputs_majority_share", "val_outputs_majority_share"):
        assert (run.series[name].values == 1.0).all(), name
    assert run.series["val_outputs_majority_share"].steps.tolist()[:2] == [11, 21]
    assert (run.series["outputs_sample_spread"].values < 1e-5).all()
    healthy = fit(layers(), tmp_path / "healthy", rate=0.5)
    assert healthy.series["val_outputs_majority_share"].values[-1] < 0.5
    assert healthy.series["outputs_sample_spread"].values[-1] > 0.5
    share = run.setup.number("class_majority_share")
    assert share is not None
    assert 0.2 < share < 0.35


def test_answers_against_a_naive_count() -> None:
    output = torch.randn(40, 7)
    rows = rows_of(output)
    assert rows is not None
    assert class_counts(rows).tolist() == [float((output.argmax(1) == c).sum()) for c in range(7)]
    centred = output - output.mean(0)
    assert float(sample_spread(rows)) == pytest.approx(float(centred.norm() / output.norm()))
    assert class_counts(torch.tensor([[0.4], [-1.0], [0.6]])).tolist() == [1.0, 2.0]
    assert class_counts(torch.tensor([[0.4], [0.1], [0.6]]), probabilities=True).tolist() == [2.0, 1.0]
    image = torch.randn(2, 3, 5, 5)
    rows = rows_of(image)
    assert rows is not None
    assert class_counts(rows).tolist() == [float((image.argmax(1) == c).sum()) for c in range(3)]
    assert rows_of(torch.zeros(4, dtype=torch.long)) is None


x, target, wanted = torch.randn(8, 5), torch.randn(8, 3), torch.randint(0, 3, (8,))
linear = nn.Linear(5, 3)
LOSSES = {
    "cross-entropy": (lambda: functional.cross_entropy(linear(x), wanted), "mean"),
    "its sum": (lambda: functional.cross_entropy(linear(x), wanted, reduction="sum"), "sum"),
    "a sum, divided": (lambda: functional.mse_loss(linear(x), target, reduction="sum") / 8, "mean"),
    "written out": (lambda: (linear(x) - target).square().sum(), "sum"),
    "halved": (lambda: (linear(x) - target).square().mean() * 0.5, "mean"),
    "two terms": (lambda: functional.l1_loss(linear(x), target) + linear.weight.square().sum(), "mean"),
    "unknown": (lambda: torch.logsumexp(linear(x).flatten(), 0), ""),
}


@pytest.mark.parametrize("name", LOSSES)
def test_how_a_loss_became_one_number(name: str) -> None:
    loss, expected = LOSSES[name]
    assert reduction(loss()) == expected


OUTPUTS = {
    "linear": (lambda: linear(x), "none"),
    "a convolution": (lambda: nn.Conv1d(1, 2, 3)(x[:, None]).squeeze(), "none"),
    "a function": (lambda: torch.relu(linear(x)).flatten(0, 1), "relu"),
    "a module": (lambda: nn.Sigmoid()(linear(x)).view(-1), "sigmoid"),
    "normalized": (lambda: linear(x).log_softmax(-1), "log_softmax"),
    "another type": (lambda: torch.tanh(linear(x)).bfloat16().float(), "tanh"),
    "a sum": (lambda: linear(x) + target, ""),
    "a leaf": (lambda: x, ""),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_outputs_came_out_of(name: str) -> None:
    output, expected = OUTPUTS[name]
    assert last_activation(output()) == expected


def test_units_that_are_equal() -> None:
    weight = torch.randn(10, 4)
    assert equal_units(weight) == 0.0
    weight[3] = weight[7]
    assert equal_units(weight) == 0.2
    assert equal_units(torch.full((6, 5, 3, 3), 0.1)) == 1.0
    assert equal_units(torch.randn(4, 9).bfloat16()) == 0.0


@pytest.mark.parametrize(
    ("start", "first", "later"), [("constant", 1.0, 1.0), ("zero branch", 0.5, 0.0), ("", 0.0, None)]
)
def test_units_that_stay_equal(start: str, first: float, later: float | None, tmp_path: Path) -> None:
    net = layers()
    with torch.no_grad():
        if start == "constant":
            for parameter in net.parameters():
                parameter.fill_(0.1)
        elif start:
            net[2].weight.zero_()  # what comes after it differs from unit to unit
    run = fit(net, tmp_path)
    assert run.setup.number("weights_identical_units") == first
    assert run.setup.number("weights_identical_units_later") == later


def shared(batches: list[tuple[np.ndarray, object, bool]], training: np.ndarray) -> dict[str, Any]:
    found = Batches()
    found.add(training, None)
    found.samples(training, True)
    for batch, source, trained in batches:
        found.samples(batch, False, source, trained)
    return found.facts()


def test_samples_shared_with_training_are_judged_by_data_set() -> None:
    rng = np.random.default_rng(0)
    train, clean = rng.normal(size=(640, 10)), rng.normal(size=(320, 10))
    leaky = clean.copy()
    leaky[rng.permutation(320)[:96]] = train[:96]
    parts = [train[i : i + 32] for i in range(0, 640, 32)]

    def split(data: np.ndarray) -> list[np.ndarray]:
        return [data[i : i + 32] for i in range(0, len(data), 32)]

    evaluated = [(b, None, False) for b in parts]
    only = shared(evaluated, train)
    assert "train_val_overlap_share" not in only
    assert only["validation_is_training_data"] is True
    for source in (None, "val"):
        held = [(b, source, False) for b in split(leaky)]
        assert shared(held, train)["train_val_overlap_share"] == pytest.approx(0.3)
        assert shared(evaluated + held, train)["train_val_overlap_share"] == pytest.approx(0.3, abs=0.02)
    held = [(b, None, False) for b in split(clean)]
    assert shared(evaluated[:6] + held, train)["train_val_overlap_share"] < 0.05
    assert shared([(b, "train", True) for b in parts] + held, train)["train_val_overlap_share"] == 0.0
    within = shared([(b, None, False) for b in split(train[:128])], train)
    assert within["train_val_overlap_share"] == 1.0


def test_what_is_not_known_of_all_training_samples_is_not_said() -> None:
    rng = np.random.default_rng(0)
    train = rng.normal(size=(64, 10))
    found = Batches()
    for place in range(0, 32, 8):
        found.samples(train[place : place + 8], True)
        found.add(train[place : place + 8], None)
    found.passed_over(training=True)
    found.samples(train, False)
    assert "train_val_overlap_share" not in found.facts()
    assert "validation_is_training_data" not in found.facts()
    for _ in range(10):  # the same again and again: nothing is left to be seen
        found.samples(train[:32], True)
    assert found.facts()["train_val_overlap_share"] == 0.0
    found.samples(rng.normal(size=(30, 10)), False, "val")
    found.samples(train[:2], False, "val")
    assert found.facts()["train_val_overlap_share"] == 2 / 32


def test_parts_of_a_norm_have_equal_weights_on_a_host_and_on_an_accelerator() -> None:
    norms = torch.tensor([3.0, 4.0, 12.0])
    for weights in ([1.0, 1.0, 1.0], [0.25, 1.0, 0.5]):
        expected = 2.0 * math.sqrt(sum(w * n * n for w, n in zip(weights, norms.tolist(), strict=True)))
        assert float(weighted_norm(norms, weights, 3, 2.0)) == pytest.approx(expected)
        assert weighted_norm(norms.square().tolist(), weights, 3, 2.0) == pytest.approx(expected)
    assert float(weighted_norm(norms, [1.0, 1.0, 1.0], 2, 1.0)) == pytest.approx(5.0)


def test_directions_are_the_same_by_tensors() -> None:
    """What stays on an accelerator is computed by tensors: here on the host, to the same numbers."""
    found = []
    for device in (False, True):
        torch.manual_seed(5)
        parameters = [nn.Parameter(torch.randn(30, 200)), nn.Parameter(torch.randn(7))]
        directions = Directions(device)
        for turn in range(2):
            for parameter in parameters:
                parameter.grad = torch.randn_like(parameter) + 1
            out = directions.second(1.0, 0) if turn else directions.first(parameters, 1.0)
            with torch.no_grad():
                for parameter in parameters:
                    parameter -= 0.1 * parameter.grad
        assert out is not None
        found.append([float(out["grad_cosine"]), float(out["update_cosine"])])
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_letting_go_between_two_hooks_of_a_call(tmp_path: Path) -> None:
    """PyTorch goes on through the hooks that were there when the call began."""
    session, net = torch_session(tmp_path), layers()
    net.register_forward_pre_hook(lambda module, given: session.failed("a test", ValueError("broken")))
    session.add_model(net)
    assert net(torch.randn(3, 6)).shape == (3, 4)
    assert not session.active


def test_answers_of_every_evaluation_pass_of_a_fast_training(tmp_path: Path) -> None:
    """Where steps are fast, most have no hook after the forward pass; evaluation passes have."""
    net = layers()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with traindx.watch(net, optimizer, out=tmp_path) as watch:
        for step in range(300):
            x = torch.randn(16, 6)
            watch.batch(x, x[:, :4].argmax(1))
            optimizer.zero_grad()
            loss = functional.cross_entropy(net(x), x[:, :4].argmax(1))
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
            if step % 25 == 24:
                with torch.no_grad():
                    net(torch.randn(50, 6))
    found = traindx.read(tmp_path).series["val_outputs_majority_share"]
    assert found.steps.tolist() == [*range(26, 300, 25), 300]


def test_activations_that_are_called_as_functions_are_in_the_graph() -> None:
    layer, other, x = nn.Linear(3, 4), nn.Linear(4, 2), torch.randn(5, 3)
    hidden = functional.leaky_relu(layer(x))
    target = torch.zeros(5, dtype=torch.long)
    assert activations(functional.cross_entropy(other(hidden), target)) == "leaky_relu"
    assert activations(functional.cross_entropy(other(layer(x)), target)) == "none"
    assert activations(torch.tanh(other(torch.sigmoid(layer(x)))).mean()) == "sigmoid, tanh"
