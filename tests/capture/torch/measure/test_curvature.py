"""Extreme eigenvalues of the Hessian against the whole matrix, and a training that does not notice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import traindx  # noqa: E402
from tests.capture.launch.launching import PYTHON, finished  # noqa: E402
from traindx.capture.torch.measure.loss.curvature import (  # noqa: E402
    MOST,
    Curvature,
    NotDifferentiable,
    extremes,
    lanczos,
)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("size", [1, 2, 5, 300])
def test_lanczos_on_known_spectra(size: int) -> None:
    values = np.concatenate([[-3.0, 50.0][-size:], np.linspace(-1, 4, max(0, size - 2))])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))[0]
    matrix = torch.tensor(turn @ np.diag(values) @ turn.T)
    found = lanczos(lambda v: matrix @ v, torch.ones(size, dtype=torch.float64))
    near = 0.02 * np.abs(values).max()
    assert (found.low, found.high) == (
        pytest.approx(values.min(), abs=near),
        pytest.approx(values.max(), abs=near),
    )
    assert found.products <= min(size, MOST)


def test_the_bound_of_the_error_holds() -> None:
    """A spectrum without gaps, which takes more products than there are: the error is said."""
    values = np.linspace(0, 1, 2000) ** 3
    found = lanczos(lambda v: torch.tensor(values) * v, torch.ones(2000, dtype=torch.float64), most=6)
    assert found.products == 6
    assert abs(found.high - 1) <= found.error
    assert found.high <= 1


def test_a_quadratic_has_its_own_curvature() -> None:
    weight = nn.Parameter(torch.randn(3))
    scale = torch.tensor([4.0, -2.0, 1.0])
    found = extremes((scale * weight.square()).sum() / 2, [weight])
    assert (found.low, found.high) == (pytest.approx(-2.0, rel=1e-4), pytest.approx(4.0, rel=1e-4))


def test_no_curvature_at_all() -> None:
    weight = nn.Parameter(torch.randn(5))
    found = extremes((weight * 3).sum(), [weight])
    assert (found.low, found.high) == (0.0, 0.0)


def whole(loss: torch.Tensor, parameters: list[torch.Tensor]) -> np.ndarray:
    """Eigenvalues of the Hessian, row by row."""
    first = torch.autograd.grad(loss, parameters, create_graph=True)
    flat = torch.cat([g.reshape(-1) for g in first])
    rows = []
    for value in flat:
        row = torch.autograd.grad(value, parameters, retain_graph=True, allow_unused=True)
        given = [torch.zeros_like(p) if r is None else r for r, p in zip(row, parameters, strict=True)]
        rows.append(torch.cat([g.reshape(-1) for g in given]))
    return np.linalg.eigvalsh(torch.stack(rows).double().numpy())


class Forgetful(nn.Module):
    """A block that is computed again in the backward pass, with dropout and running statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.3))
        self.out = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.out(checkpoint(self.block, x, use_reentrant=False))


NETS: dict[str, Callable[[], nn.Module]] = {
    "tanh": lambda: nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 3)),
    "dropout and batch norm": lambda: nn.Sequential(
        nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.4), nn.Linear(8, 3)
    ),
    "checkpointed": Forgetful,
}


@pytest.mark.parametrize("name", NETS)
def test_against_the_whole_hessian(name: str) -> None:
    net = NETS[name]()
    parameters = [p for p in net.parameters() if p.requires_grad]
    loss = functional.cross_entropy(net(torch.randn(32, 5)), torch.randint(0, 3, (32,)))
    found = extremes(loss, parameters)
    values = whole(loss, parameters)
    assert found.high == pytest.approx(values[-1], abs=0.02 * values[-1])
    assert found.low == pytest.approx(values[0], abs=0.02 * values[-1])
    loss.backward()  # its graph is still there


def trained(net: nn.Module, out: Path | None, rate: float = 0.1, **options: Any) -> list[torch.Tensor]:
    torch.manual_seed(4)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)

    def step(log: Callable[[torch.Tensor], None]) -> None:
        loss = functional.cross_entropy(net(torch.randn(16, 5)), torch.randint(0, 3, (16,)))
        optimizer.zero_grad()
        log(loss)
        loss.backward()
        optimizer.step()

    if out is None:
        for _ in range(12):
            step(lambda loss: None)
    else:
        with traindx.watch(net, optimizer, out=out, **options) as watch:
            for _ in range(12):
                step(lambda loss: watch.log(loss=loss))
    return [*net.state_dict().values(), torch.get_rng_state()]


@pytest.mark.parametrize("name", NETS)
def test_training_is_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    found = []
    for out in (None, tmp_path):
        torch.manual_seed(1)
        found.append(trained(NETS[name](), out, curvature=True))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    run = traindx.read(tmp_path)
    assert run.series["curvature/max"].steps.tolist() == [0, 5, 10]
    assert (run.series["curvature/min"].values < run.series["curvature/max"].values).all()
    assert run.setup.number("curvature_measurements") == 3
    assert run.setup.number("backwards_per_step") == 1
    assert [e.code for e in run.events] == ["curvature-cost"]


def test_what_cannot_be_differentiated_twice_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hooked = NETS["tanh"]()
    called: list[int] = []
    hooked[0].weight.register_hook(lambda gradient: called.append(1))
    trained(hooked, tmp_path, curvature=True)
    assert len(called) == 12  # the user's hook was not called once more
    assert capsys.readouterr().err.count("curvature is not measured: there are hooks on gradients") == 1
    assert "curvature/max" not in traindx.read(tmp_path).series


class Once(torch.autograd.Function):
    """A function without a second derivative."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 2 * ctx.saved_tensors[0]


def test_a_function_without_a_second_derivative() -> None:
    weight = nn.Parameter(torch.randn(4))
    loss = Once.apply(weight).sum()
    with pytest.raises(NotDifferentiable, match="Once is differentiable only once"):
        extremes(loss, [weight])
    loss.backward()
    assert torch.equal(weight.grad, 2 * weight.detach())


def test_as_often_as_the_time_allows() -> None:
    at = [0.0]
    curvature = Curvature(now=lambda: at[0])
    seen = []
    for step in range(2000):
        at[0] += 0.01
        if curvature.due(step):
            seen.append(step)
            weight = nn.Parameter(torch.ones(2))
            curvature.measure(weight.square().sum(), [weight], [], step)
            curvature.seconds += 0.5
            at[0] += 0.5
    assert seen[:5] == [0, 5, 10, 15, 20]
    assert curvature.seconds <= 2.5 + 0.2 * at[0]
    assert len(seen) > 8


SCRIPT = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(64, 6)
y = x[:, :1] * x[:, 1:2]
for step in range(12):
    optimizer.zero_grad()
    for part in range(2):
        loss = (net(x[part::2]) - y[part::2]).square().mean()
        (loss / 2).backward()
    optimizer.step()
torch.save(net.state_dict(), "weights.pt")
"""
START = """
import sys
from pathlib import Path
from traindx.capture.launch.command import Request, launch
folder = Path(sys.argv[1])
sys.exit(launch(sys.argv[2:], Request(folder, curvature=sys.argv[1].endswith("curved"))).shell_status)
"""


def test_an_unmodified_script_with_divided_losses(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    weights = []
    for name in ("plain", "curved"):
        done = finished([PYTHON, "-c", START, str(tmp_path / name), PYTHON, "train.py"], tmp_path, {})
        assert done.status == 0, done.err.decode()
        weights.append((tmp_path / "weights.pt").read_bytes())
    assert weights[0] == weights[1]
    run = traindx.read(tmp_path / "curved")
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    x = torch.randn(64, 6)
    loss = (net(x[::2]) - (x[:, :1] * x[:, 1:2])[::2]).square().mean()
    values = whole(loss, list(net.parameters()))
    first = {name: run.series[f"curvature/{name}"].values[0] for name in ("max", "min")}
    found = run.series["curvature/max"].values[1] / first["max"]
    assert first["max"] == pytest.approx(values[-1] / 2, rel=0.02)  # the divisor is found after four steps
    assert first["min"] == pytest.approx(values[0] / 2, abs=0.02 * values[-1])
    assert found > 1.5
