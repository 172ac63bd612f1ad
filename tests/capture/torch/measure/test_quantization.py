"""Quantized weights: found however they are written, measured against values worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.nn.utils import parametrize, prune  # noqa: E402

import traindx  # noqa: E402
from tests.capture.torch.loops import Loop, _classifier  # noqa: E402
from traindx.capture.arrays.levels import levels, quantized_levels  # noqa: E402
from traindx.capture.torch.measure.quantized.levels import clipped_share, level_statistics, moved_share  # noqa: E402


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def ternary(w: torch.Tensor) -> torch.Tensor:
    scale = w.abs().mean()
    return (w / scale).round().clamp(-1, 1) * scale


def even(bits: int, by_row: bool = False) -> Callable[[torch.Tensor], torch.Tensor]:
    def rounded(w: torch.Tensor) -> torch.Tensor:
        top = w.abs().amax(1, keepdim=True) if by_row else w.abs().amax()
        scale = top / (2 ** (bits - 1) - 1)
        return (w / scale).round() * scale

    return rounded


class Straight(nn.Module):
    """A parametrization: `quantize` with the gradient passed straight through."""

    def __init__(self, quantize: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.quantize = quantize

    def forward(self, w: torch.Tensor) -> torch.Tensor:
        return w + (self.quantize(w) - w).detach()


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, w: torch.Tensor) -> torch.Tensor:
        return ternary(w)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad


class BitLinear(nn.Linear):
    def forward(this, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, Rounded.apply(this.weight), this.bias)


class Convolved(nn.Module):
    """Weights of a convolution in a list of the net's own, and no layer that owns them."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(8, 1, 3, 3) / 3)])
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.weights[0]
        x = functional.conv2d(x.reshape(-1, 1, 4, 5), weight + (even(4)(weight) - weight).detach())
        return self.head(x.relu().mean((2, 3)))


class OnlyInUse(nn.Linear):
    """Quantized in evaluation alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.weight if self.training else even(3)(self.weight)
        return functional.linear(x, weight, self.bias)


def parametrized() -> nn.Module:
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
    parametrize.register_parametrization(model[0], "weight", Straight(even(8, by_row=True)))
    return model


def by_library() -> nn.Module:
    quant = torch.ao.quantization
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
    model.qconfig = quant.get_default_qat_qconfig("fbgemm")
    model[2].qconfig = None
    return quant.prepare_qat(model.train())


def bits() -> nn.Module:
    return nn.Sequential(BitLinear(20, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 4))


def pruned() -> nn.Module:
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
    prune.random_unstructured(model[0], "weight", 0.95)
    return model


def spectral() -> nn.Module:
    return nn.Sequential(
        nn.utils.parametrizations.weight_norm(nn.Linear(20, 32)), nn.ReLU(), nn.Linear(32, 4)
    )


def only_in_use() -> nn.Module:
    return nn.Sequential(OnlyInUse(20, 32), nn.ReLU(), nn.Linear(32, 4))


def plain() -> nn.Module:
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))


def run(make: Callable[[], Loop], folder: Path | None, **options: int) -> list[bytes]:
    """The bytes of everything that training changes after STEPS steps."""
    torch.manual_seed(3)
    loop = make()
    if folder is None:
        for _ in range(STEPS):
            loop.step(lambda loss: None)
    else:
        with traindx.watch(loop.models, loop.optimizers, out=folder, **options) as watch:
            for _ in range(STEPS):
                loop.step(lambda loss: watch.log(loss=loss))
                assert watch.session.active
    return [
        t.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
        for t in loop.state()
        if t.numel()
    ]


def loop_of(make: Callable[[], nn.Module], evaluating: bool = False) -> Loop:
    loop = _classifier(make(), (20,))
    inner, model = loop.step, loop.models[0]

    def step(log: Callable[[Any], None]) -> None:
        inner(log)
        model.eval()
        with torch.no_grad():
            model(torch.randn(16, 20))
        model.train()

    loop.step = step if evaluating else inner
    return loop


STEPS = 12
FOUND = {  # levels of the first layer, and the module that owns its parameter
    "parametrized": (parametrized, 255, "0.parametrizations.weight"),
    "by_library": (by_library, 256, "0"),
    "bits": (bits, 3, "0"),
    "Convolved": (Convolved, 15, "weights"),
}


@pytest.mark.parametrize("options", [{"every": 1}, {"every": 5}, {}], ids=str)
@pytest.mark.parametrize("name", FOUND)
def test_found_without_a_change_of_training(name: str, options: dict[str, int], tmp_path: Path) -> None:
    make, most, module = FOUND[name]
    functions = functional.linear, functional.conv2d
    assert run(lambda: loop_of(make), tmp_path, **options) == run(lambda: loop_of(make), None)
    assert (functional.linear, functional.conv2d) == functions
    recorded = traindx.read(tmp_path)
    assert not [e for e in recorded.events if e.code == "capture-failed"]
    setup = recorded.setup
    assert setup.flag("quantized")
    assert setup.number("quantized_modules") == 1
    assert setup.word("quantized_in") == "training"
    assert 0.8 * most <= setup.number("quantized_levels") <= most
    panel = recorded.panels["quant/zero_fraction"]
    assert panel.modules == (module,)
    assert module in recorded.panels["grad_norm"].modules
    assert np.isfinite(panel.values).all()


@pytest.mark.parametrize("make", [plain, pruned, spectral], ids=lambda f: f.__name__)
def test_not_taken_for_quantized(make: Callable[[], nn.Module], tmp_path: Path) -> None:
    assert run(lambda: loop_of(make), tmp_path, every=1) == run(lambda: loop_of(make), None)
    recorded = traindx.read(tmp_path)
    assert recorded.setup.flag("quantized") is False
    assert not [name for name in recorded.panels if name.startswith("quant/")]


@pytest.mark.parametrize("every", [1, 5])
def test_in_evaluation_alone(every: int, tmp_path: Path) -> None:
    def make() -> Loop:
        return loop_of(only_in_use, evaluating=True)

    assert run(make, tmp_path, every=every) == run(make, None)
    recorded = traindx.read(tmp_path)
    assert recorded.setup.word("quantized_in") == "evaluation"
    assert recorded.setup.number("quantized_levels") == 7
    assert recorded.panels["quant/error"].values.min() > 0.05


def test_in_training_and_evaluation(tmp_path: Path) -> None:
    run(lambda: loop_of(bits, evaluating=True), tmp_path, every=1)
    assert traindx.read(tmp_path).setup.word("quantized_in") == "both"


class Steeper(nn.Linear):
    """Quantized with a gradient that is three times too large."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = 3 * self.weight - (3 * self.weight - ternary(self.weight)).detach()
        return functional.linear(x, weight, self.bias)


def steeper() -> nn.Module:
    return nn.Sequential(Steeper(20, 32), nn.ReLU(), nn.Linear(32, 4))


class Twice(nn.Module):
    """One quantized layer that is used twice in a pass."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.head = BitLinear(20, 20), nn.Linear(20, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(self.layer(x).relu()))


@pytest.mark.parametrize(("make", "times"), [(bits, 1.0), (steeper, 3.0), (Twice, None)])
def test_what_the_backward_pass_makes_of_a_gradient(
    make: Callable[[], nn.Module], times: float | None, tmp_path: Path
) -> None:
    assert run(lambda: loop_of(make), tmp_path, every=1) == run(lambda: loop_of(make), None)
    values = traindx.read(tmp_path).panels["quant/gradient"].values
    if times is None:
        assert np.isnan(values).all()
    else:
        assert values == pytest.approx(times, rel=1e-5)


def test_begun_late(tmp_path: Path) -> None:
    """Fake quantization that is switched on after the first third of a run."""

    def make() -> Loop:
        loop = loop_of(by_library)
        inner, model, made = loop.step, loop.models[0], [0]
        model.apply(torch.ao.quantization.disable_fake_quant)

        def step(log: Callable[[Any], None]) -> None:
            made[0] += 1
            if made[0] == 5:
                model.apply(torch.ao.quantization.enable_fake_quant)
            inner(log)

        loop.step = step
        return loop

    run(make, tmp_path, every=1)
    recorded = traindx.read(tmp_path)
    assert recorded.setup.flag("quantized")
    assert recorded.panels["quant/error"].steps[0] >= 4
    (event,) = [e for e in recorded.events if e.code == "quantization-begins"]
    assert event.step == pytest.approx(5, abs=1)


def test_numbers_of_known_weights() -> None:
    own = torch.tensor([[0.9, -0.1, 0.2, -1.2], [0.1, 0.1, -0.2, 1.0]])
    used = torch.tensor([[1.0, 0.0, 0.0, -1.0], [0.0, 0.0, 0.0, 1.0]])
    zero, majority, error, kept, _ = level_statistics(used, own).tolist()
    assert zero == majority == 5 / 8
    assert error == pytest.approx(float((used - own).norm() / own.norm()))
    assert kept == pytest.approx((0.9 + 1.2 + 1.0) / float(own.square().sum()))
    assert level_statistics(torch.full((4, 8), 0.5), torch.rand(4, 8)).tolist()[:2] == [0.0, 1.0]
    zero, majority, *_ = level_statistics(
        torch.tensor([[2.0, 2.0, 2.0, -2.0], [3.0, 3.0, 3.0, 3.0]]), torch.randn(2, 4)
    )
    assert (zero, majority) == (0.0, 7 / 8)


@pytest.mark.parametrize("bits", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("shape", [(16, 64), (64, 300), (10, 32)])
def test_levels_of_even_grids(bits: int, by_row: bool, shape: tuple[int, int]) -> None:
    own = torch.randn(shape)
    used = own + (even(bits, by_row)(own) - own)  # not exactly on the grid
    found = quantized_levels(used.numpy(), own.numpy())
    assert 0.5 * (2**bits - 1) <= found <= 2**bits - 1


def test_levels_that_are_uneven_and_none() -> None:
    places = np.array(
        [-1.0, -0.7, -0.52, -0.39, -0.28, 0.0, 0.08, 0.16, 0.25, 0.44, 1.0]
    )  # of a normal distribution
    own = np.random.default_rng(0).normal(size=(16, 64))
    near = places[np.abs(own[..., None] - places).argmin(-1)]
    assert quantized_levels(near, own) == len(places)
    assert quantized_levels(np.zeros_like(own), own) == 1
    assert quantized_levels(np.zeros_like(own), np.zeros_like(own)) == 0
    assert quantized_levels(own, own) == 0
    assert quantized_levels(0.5 * own, own) == 0
    assert quantized_levels(own * np.nan, own) == 0
    brain = torch.tensor(own).float().bfloat16().float().numpy()
    assert quantized_levels(brain, own) == 0
    for seed in range(20):
        assert levels(np.random.default_rng(seed).normal(size=(8, 9))) == 0


def no_estimator() -> nn.Module:
    layer = nn.Linear(20, 32)
    parametrize.register_parametrization(layer, "weight", Bare())
    return nn.Sequential(layer, nn.ReLU(), nn.Linear(32, 4))


class Bare(nn.Module):
    def forward(self, w: torch.Tensor) -> torch.Tensor:
        return even(3)(w)


class Detached(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, ternary(self.weight).detach(), self.bias)


def detached() -> nn.Module:
    return nn.Sequential(Detached(20, 32), nn.ReLU(), nn.Linear(32, 4))


def test_nothing_gets_through(tmp_path: Path) -> None:
    run(lambda: loop_of(detached), tmp_path, every=1)
    assert (traindx.read(tmp_path).panels["quant/gradient"].values == 0).all()


@pytest.mark.parametrize("by_row", [False, True])
def test_values_that_change_their_level(by_row: bool) -> None:
    """Ten of 512 weights go to the next level; the scale changes by a few per cent as well."""
    before = torch.randint(-7, 8, (8, 64)).float()
    before[:, :2] = torch.tensor([-7.0, 7.0])
    after = before.clone()
    after.view(-1)[2:512:51] += 1
    scale = torch.linspace(0.97, 1.04, 8)[:, None] if by_row else 1.04
    assert float(moved_share(scale * after, before)) == pytest.approx(10 / 512)
    assert float(moved_share(scale * before, before)) == 0
    assert float(moved_share(-before, before)) == pytest.approx(float((before != 0).float().mean()))


def test_weights_beyond_the_grid() -> None:
    own = torch.linspace(-2, 2, 401)[None]
    used = (own / 0.25).round().clamp(-4, 3) * 0.25  # from -1 to 0.75: half a level more is not beyond
    expected = ((own > 0.875) | (own < -1.125)).float().mean()
    assert float(clipped_share(used, own)) == pytest.approx(float(expected), abs=0.01)
    assert float(clipped_share((own / 0.25).round() * 0.25, own)) == 0
    assert np.isnan(float(clipped_share(own.sign(), own)))


@pytest.mark.parametrize(("size", "bits"), [(16, 4), (32, 8), (64, 3), (128, 8)])
def test_groups_with_scales_of_their_own(size: int, bits: int) -> None:
    own = torch.randn(64, 256)
    groups = own.reshape(-1, size)
    used = even(bits, by_row=True)(groups).reshape(own.shape)
    assert 0 < quantized_levels(used.numpy(), own.numpy()) <= 256


@pytest.mark.parametrize("make", [bits, by_library], ids=lambda f: f.__name__)
def test_flips_of_one_step_are_seen_between_samples(make: Callable[[], nn.Module], tmp_path: Path) -> None:
    assert run(lambda: loop_of(make), tmp_path, every=4) == run(lambda: loop_of(make), None)
    panels = traindx.read(tmp_path).panels
    assert (panels["quant/flips"].values <= panels["quant/moved"].values + 0.2).all()
    assert (panels["quant/flips"].values > 0).any()
