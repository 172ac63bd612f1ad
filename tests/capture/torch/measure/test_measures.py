"""What is measured is what it says: every number against PyTorch's own, computed aside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import traindx  # noqa: E402
from tests.capture.torch import loops  # noqa: E402
from traindx.capture.arrays import activations as arrays  # noqa: E402
from traindx.capture.arrays.data import Batches, Labels, Moments, sample_hashes  # noqa: E402
from traindx.capture.session.noise import noise_scale  # noqa: E402
from traindx.capture.session.pace import Pace, causes_per_second  # noqa: E402
from traindx.capture.signals import catalogue  # noqa: E402
from traindx.capture.torch.measure.forward_pass import module_outputs  # noqa: E402
from traindx.capture.torch.measure.tensors.views import flat  # noqa: E402
from traindx.vocabulary.run import Panel, Run  # noqa: E402


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def last(panel: Panel, module: str) -> float:
    """The latest value of a module that is there."""
    values = panel.values[:, panel.modules.index(module)]
    return float(values[~np.isnan(values)][-1])


def train(
    model: nn.Module,
    steps: int,
    out: Path,
    *,
    width: int = 6,
    before: Callable[[], None] = lambda: None,
    **options: Any,
) -> Run:
    """SGD on random classes, every step measured; `before` is called before each step."""
    optimizer = options.pop("optimizer", None) or torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=out, every=1, **options) as watch:
        for _ in range(steps):
            x, y = torch.randn(32, width), torch.randint(0, 3, (32,))
            watch.batch(x, y)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            watch.log(loss=loss)
            before()
            optimizer.step()
    return traindx.read(out)


def small() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))


def test_gradients_weights_and_updates(tmp_path: Path) -> None:
    model = small()
    previous: dict[str, torch.Tensor] = {}

    def keep() -> None:
        for name, p in model.named_parameters():
            previous[name], previous["g" + name] = p.detach().clone(), p.grad.detach().clone()

    run = train(model, 5, tmp_path, before=keep)
    now = dict(model.named_parameters())
    for module in ("0", "2", "4"):
        names = (f"{module}.weight", f"{module}.bias")

        def norm(tensors: list[torch.Tensor]) -> float:
            return float(torch.cat([t.detach().double().flatten() for t in tensors]).norm())

        change = norm([now[n] - previous[n] for n in names])
        assert last(run.panels["grad_norm"], module) == pytest.approx(
            norm([previous["g" + n] for n in names]), rel=1e-5
        )
        assert last(run.panels["update_ratio"], module) == pytest.approx(
            change / norm([previous[n] for n in names]), rel=1e-5
        )
    start = run.panels["weight_norm"].values
    assert np.isfinite(start).all()
    everything = torch.cat([previous["g" + n].flatten() for n in now]).double().norm()
    assert run.series["grad_norm"].values[-1] == pytest.approx(float(everything), rel=1e-5)


def test_sizes_of_weights(tmp_path: Path) -> None:
    model = small()
    run = train(model, 1, tmp_path, optimizer=torch.optim.SGD(model.parameters(), lr=0.0))
    layer = model[0]
    both = torch.cat([layer.weight.flatten(), layer.bias])
    assert last(run.panels["weight_norm"], "0") == pytest.approx(float(both.detach().norm()), rel=1e-6)
    assert last(run.panels["weight_absmax"], "0") == pytest.approx(
        float(both.detach().abs().max()), rel=1e-6
    )


def test_activations(tmp_path: Path) -> None:
    model, seen = small(), {}
    for name, module in model.named_children():
        module.register_forward_hook(
            lambda m, i, o, name=name: seen.__setitem__(name, (i[0].detach(), o.detach()))
        )
    run = train(model, 4, tmp_path)
    for name, (taken, given) in seen.items():
        assert last(run.panels["act_mean"], name) == pytest.approx(float(given.mean()), abs=1e-5)
        assert last(run.panels["act_std"], name) == pytest.approx(float(given.std(correction=0)), rel=1e-4)
        assert last(run.panels["act_absmax"], name) == pytest.approx(float(given.abs().max()), rel=1e-6)
        assert last(run.panels["act_nonfinite"], name) == 0
        spectrum = torch.linalg.eigvalsh(torch.cov((given - given.mean(0)).double()[:32].T))
        rank = float(spectrum.sum() ** 2 / spectrum.square().sum())
        assert last(run.panels["act_rank"], name) == pytest.approx(rank, rel=1e-3)
        if name == "3":
            saturated = (taken.abs() > 3).double().mean()
            assert last(run.panels["act_saturated_fraction"], name) == pytest.approx(float(saturated))
    assert run.panels["act_saturated_fraction"].modules == ("3",)


@pytest.mark.parametrize("dead", [0, 3, 8])
def test_silent_units_are_counted_over_data(dead: int, tmp_path: Path) -> None:
    """A unit is silent when no sample makes it active: half of the zeros of a healthy net do not count."""
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    with torch.no_grad():
        model[0].bias[:dead] = -100
    run = train(model, 6, tmp_path)
    panel = run.panels["act_zero_fraction"]
    assert last(panel, "1") == dead / 8
    assert len(panel.steps) == 5  # the first batch alone (32 samples) is not enough to judge


@pytest.mark.parametrize(
    ("function", "signal", "low", "high"),
    [
        (functional.relu, "act_zero_fraction", 0.5, 0.5),
        (lambda x: torch.tanh(10 * x), "act_saturated_fraction", 0.6, 1.0),
        (lambda x: torch.sigmoid(x.flatten(1) / 100), "act_saturated_fraction", 0.0, 0.0),
        (lambda x: functional.dropout(functional.relu(x), 0.2), "act_zero_fraction", 0.5, 0.5),
    ],
)
def test_activation_functions_are_seen_where_they_are_taken_in(
    function: Callable[[torch.Tensor], torch.Tensor], signal: str, low: float, high: float, tmp_path: Path
) -> None:
    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.Linear(6, 8), nn.Linear(8, 3)
            with torch.no_grad():
                self.one.weight.mul_(10)
                self.one.bias[:4] = -1000 if "zero" in signal else 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.two(function(self.one(x)))

    run = train(Functional(), 6, tmp_path)
    assert run.panels[signal].modules == ("two.input",)
    assert low <= last(run.panels[signal], "two.input") <= high


def test_units_of_images_are_channels() -> None:
    x = torch.rand(5, 3, 4, 4)
    x[:, 1] = 0
    assert arrays.largest_by_unit(x.numpy(), False).tolist() == x.amax((0, 2, 3)).tolist()
    assert arrays.largest_by_unit(x[..., 0], True).tolist() == x[..., 0].amax((0, 2)).tolist()
    assert arrays.largest_by_unit(x[..., 0], False).tolist() == x[..., 0].amax((0, 1)).tolist()


def test_outputs_that_do_not_depend_on_the_input_have_rank_zero() -> None:
    constant = torch.randn(1, 40).expand(16, 40)
    assert arrays.effective_rank(module_outputs.host_part(constant)) == 0
    line = torch.randn(16, 1) * torch.randn(1, 40) + 5
    assert arrays.effective_rank(module_outputs.host_part(line)) == pytest.approx(1, abs=1e-3)
    assert arrays.effective_rank(module_outputs.host_part(torch.randn(32, 128))) > 15
    assert np.isnan(arrays.effective_rank(module_outputs.host_part(torch.randn(2, 40))))


@pytest.mark.parametrize("make", [loops.mlp, loops.cnn, loops.gpt, loops.accumulation])
def test_the_way_of_accelerators_gives_the_same(make: Callable[[], loops.Loop], tmp_path: Path) -> None:
    """Readings that stay tensors and are fetched together later, against numpy at once."""
    found = []
    for device in (False, True):
        torch.manual_seed(1)
        loop = make()
        with traindx.watch(loop.models, loop.optimizers, out=tmp_path / str(device), every=1) as watch:
            watch.session.watched.measures._device = device
            for _ in range(6):
                loop.step(lambda loss: watch.log(loss=loss))
        found.append(traindx.read(tmp_path / str(device)))
    host, other = found
    assert set(host.panels) == set(other.panels)
    for name, panel in host.panels.items():
        assert other.panels[name].modules == panel.modules, name
        np.testing.assert_allclose(
            other.panels[name].values, panel.values, rtol=2e-3, atol=1e-5, err_msg=name
        )
    np.testing.assert_allclose(other.series["grad_norm"].values, host.series["grad_norm"].values, rtol=1e-4)


def test_measuring_on_a_device_agrees_with_the_host() -> None:
    for kind in ("", "squasher", "tanh output", "sigmoid output"):
        x = torch.randn(64, 50) * 3
        before = x * 2
        host = arrays.output_statistics(x.numpy(), kind, before.numpy(), module_outputs.host_part(x))
        other = [float(v) for v in module_outputs.measured_on_device(x, kind, before, x)]
        np.testing.assert_allclose(other, host, rtol=1e-4, atol=1e-6)


def test_memory_order_does_not_matter() -> None:
    for tensor in (
        torch.randn(4, 3, 5, 5).to(memory_format=torch.channels_last),
        torch.randn(6, 7).t(),
        torch.randn(8, 8)[::2, 1:],
        torch.randn(5, dtype=torch.float64),
        torch.randn(5).bfloat16(),
        torch.randn(5, dtype=torch.complex64),
        torch.zeros(0),
        torch.tensor(3.0),
        torch.eye(4).to_sparse(),
    ):
        dense = tensor.to_dense() if tensor.is_sparse else tensor
        assert arrays.square_sum(flat(tensor)) == pytest.approx(
            float((dense.abs().double() ** 2).sum()), rel=1e-2
        )
    with np.errstate(over="ignore"):
        assert arrays.square_sum(np.array([1e30, 1e30], np.float32)) == pytest.approx(2e60)
    assert np.isnan(arrays.square_sum(np.array([np.nan, 1], np.float32)))


def test_shared_and_own_parameters_have_one_owner(tmp_path: Path) -> None:
    torch.manual_seed(1)
    loop = loops.gpt()
    with traindx.watch(loop.models, loop.optimizers, out=tmp_path, every=1) as watch:
        loop.step(lambda loss: watch.log(loss=loss))
    run = traindx.read(tmp_path)
    modules = run.panels["grad_norm"].modules
    assert "words" in modules
    assert "head" not in modules
    assert "places" in modules
    assert "blocks.layers.0.self_attn" in modules
    assert run.setup.number("parameters_total") == sum(p.numel() for p in loop.models[0].parameters())


def test_labels_and_batches() -> None:
    mixed, ordered = Labels(), Labels()
    labels = np.arange(1000) % 10
    for part in np.random.default_rng(0).permutation(labels).reshape(20, 50):
        mixed.add(part)
    for part in np.sort(labels).reshape(20, 50):
        ordered.add(part)
    assert abs(float(mixed.facts()["batch_class_purity"])) < 0.02
    assert ordered.facts()["batch_class_purity"] == 1
    in_turn = Labels()
    for i in range(20):
        in_turn.add(np.full(50, i % 2))
    assert "batch_class_purity" not in in_turn.facts()  # ones and zeros that the program writes itself
    assert mixed.facts()["class_counts_max_min_ratio"] == 1
    assert (mixed.facts()["label_min"], mixed.facts()["label_max"]) == (0, 9)
    batches = Batches()
    rng = np.random.default_rng(1)
    data = rng.normal(size=(40, 16, 30)).astype(np.float32)
    for batch in data:
        batches.add(batch, None)
        batches.samples(batch, True)
    batches.add(data[-1], None)
    batches.samples(np.concatenate([data[3][:4], rng.normal(size=(12, 30)).astype(np.float32)]), False)
    facts = batches.facts()
    assert facts["batches_distinct"] == 40
    assert facts["batches_repeat_share"] == pytest.approx(1 / 41)
    assert facts["train_val_overlap_share"] == 4 / 16
    assert facts["batch_duplicate_samples_share"] == 0
    assert len(np.unique(sample_hashes(rng.integers(0, 2, (5000, 100))))) == 5000


def test_moments_of_features() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal([0, 50, 3], [1, 10, 0], (4000, 3))
    values[2000, 0] = 1e4
    values[7, 1] = np.nan
    moments = Moments()
    for part in values.reshape(40, 100, 3):
        moments.add(part)
    facts = moments.facts("inputs")
    clean = values[np.isfinite(values).all(1)]
    assert facts["inputs_mean_abs"] == pytest.approx(np.abs(clean.mean(0)).mean())
    assert facts["inputs_std_max"] == pytest.approx(clean.std(0).max())
    assert (facts["inputs_nonfinite"], facts["inputs_constant_features"]) == (1, 1)
    assert facts["inputs_outlier_share"] == pytest.approx(1 / values.size)


def test_noise_scale_from_known_noise() -> None:
    """Gradients that are a mean plus noise of variance 1 / batch: the scale is tr(cov) / |mean|^2."""
    rng = np.random.default_rng(3)
    mean, batch = np.full(1000, 0.3), 16
    expected = 1000 / (1000 * 0.09)
    small_big = [[], []]
    for _ in range(400):
        parts = mean + rng.normal(size=(8, 1000)) / np.sqrt(batch)
        small_big[0].append(float((parts[0] ** 2).sum()))
        small_big[1].append(float((parts.mean(0) ** 2).sum()))
    found = noise_scale(np.mean(small_big[0]), batch, np.mean(small_big[1]), 8 * batch)
    assert found == pytest.approx(expected, rel=0.1)


def test_pace_keeps_the_cost_in_bounds() -> None:
    """Steps of 10 ms, samples of 5 ms: about every 80th is sampled; slow steps all are."""
    pace, sampled = Pace(), []
    for step in range(1, 5001):
        pace.stepped(step, 0.01)
        if pace.sampled(step):
            sampled.append(step)
            pace.measured(step, 0.005)
    assert 0.004 < 0.005 * len(sampled) / (5000 * 0.01) < 0.012
    assert len([s for s in sampled if s <= 300]) > 15
    slow = Pace()
    for step in range(1, 50):
        slow.stepped(step, 1.0)
        slow.measured(step, 0.003)
        assert slow.sampled(step)
    pace.sample_next_steps(5000)
    assert [pace.sampled(5000 + i) for i in range(3)] == [True] * 3


def spent_share(budget: float, each_step: float, sample: float, steps: int = 20_000) -> tuple[float, Pace]:
    """Of steps of 10 ms, the share that capture takes which needs so many seconds for the phases and the gradients of
    every step (two thirds are the gradients') and for a sample, over the second half of the run."""
    pace, spent = Pace(budget=budget), 0.0
    for step in range(1, steps + 1):
        pace.stepped(step, 0.01)
        own = each_step / 3 if pace.phases(step) else 0.0
        own += each_step * 2 / 3 if pace.gradients(step) else 0.0
        if pace.sampled(step):
            own += sample
            pace.measured(step, sample)
        else:
            pace.spent(step, own)
        spent += own if step > steps / 2 else 0.0
    return spent / (steps / 2 * 0.01), pace


@pytest.mark.parametrize(
    ("budget", "each_step", "sample"), [(0.04, 1e-4, 1e-3), (0.04, 8e-4, 2e-3), (0.01, 3e-4, 1e-3)]
)
def test_the_sum_of_all_costs_is_kept_under_the_budget(
    budget: float, each_step: float, sample: float
) -> None:
    share, _ = spent_share(budget, each_step, sample)
    assert share <= 1.1 * budget


def test_what_fits_is_not_left_out_and_what_does_not_is_the_dearest() -> None:
    _, pace = spent_share(0.04, 1e-4, 1e-3)
    assert pace.left_out == ()
    assert pace.apart == 1
    _, pace = spent_share(0.01, 3e-4, 1e-3)
    assert "clock" in pace.left_out
    assert pace.apart > 1
    _, pace = spent_share(0.001, 1e-6, 1.0)
    first = min((f for f in catalogue() if f.optional and f.due == "sample"), key=causes_per_second)
    assert pace.left_out[0] == first.kind


def test_a_recording_over_its_budget_says_what_it_leaves_out(tmp_path: Path) -> None:
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with traindx.watch(model, optimizer, out=tmp_path, overhead=1e-6) as watch:
        for _ in range(700):
            optimizer.zero_grad()
            loss = model(torch.randn(8, 6)).square().mean()
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
    run = traindx.read(tmp_path)
    assert "clock" in run.setup.word("not_measured")
    assert any(event.code == "over-budget" for event in run.events)
    assert len(run.series["train/loss"].values) == 700
    assert len(run.series["grad_norm"].values) < 700


def test_nothing_is_kept_of_a_model(tmp_path: Path) -> None:
    import gc
    import weakref

    model = small()
    gone = weakref.ref(model)
    train(model, 3, tmp_path)
    del model
    gc.collect()
    assert gone() is None
