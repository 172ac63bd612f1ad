"""No tensor that a module may give or a parameter may be ends a recording: at most its own signal is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import traindx  # noqa: E402
from traindx import pipeline  # noqa: E402
from traindx.capture.arrays.activations import effective_rank  # noqa: E402

STEPS = 12


def numbers(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


# What an inner module gives out.
HOSTILE: dict[str, Callable[[], Any]] = {
    "zeros": lambda: torch.zeros(8, 5),
    "subnormal": lambda: numbers(8, 5) * 1e-42,
    "underflowing": lambda: numbers(8, 5) * 1e-12,
    "infinite": lambda: torch.full((8, 5), float("inf")),
    "nan": lambda: torch.full((8, 5), float("nan")),
    "huge": lambda: numbers(8, 5).double() * 1e300,
    "largest": lambda: torch.full((8, 5), torch.finfo(torch.float32).max),
    "empty": lambda: torch.zeros(0, 5),
    "no_columns": lambda: torch.zeros(8, 0),
    "scalar": lambda: torch.tensor(3.0),
    "whole": lambda: torch.arange(40).reshape(8, 5),
    "truth": lambda: torch.ones(8, 5, dtype=torch.bool),
    "complex": lambda: torch.complex(numbers(8, 5), numbers(8, 5)),
    "half": lambda: numbers(8, 5).half() * 6e-8,
    "bfloat16": lambda: numbers(8, 5).bfloat16(),
    "float8": lambda: numbers(8, 5).to(torch.float8_e4m3fn),
    "sparse": lambda: numbers(8, 5).to_sparse(),
    "compressed": lambda: numbers(8, 5).to_sparse_csr(),
    "meta": lambda: torch.zeros(8, 5, device="meta"),
    "expanded": lambda: numbers(1, 5).expand(8, 5),
    "part_of_a_graph": lambda: numbers(8, 5).requires_grad_() * 2,
    "quantized": lambda: torch.quantize_per_tensor(numbers(8, 5), 0.1, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([numbers(2, 5), numbers(3, 5)]),
    "conjugate": lambda: torch.complex(numbers(8, 5), numbers(8, 5)).conj(),
    "negative": lambda: torch.complex(numbers(8, 5), numbers(8, 5)).conj().imag,
    "other_things": lambda: {"a": None, "b": (object(), "text", numbers(8, 5))},
}
pytestmark = [pytest.mark.filterwarnings("ignore")]


class Gives(torch.nn.Module):
    """Gives something out, next to what the loss is made of."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self.make = make
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, _x: Any) -> Any:
        return self.make()


class Net(torch.nn.Module):
    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self.first, self.odd, self.act = torch.nn.Linear(4, 5), Gives(make), torch.nn.ReLU()
        self.last = torch.nn.Linear(5, 3)

    def forward(self, x: Any) -> Any:
        hidden = self.act(self.first(x))
        self.odd(hidden)
        return self.last(hidden)


def recorded(folder: Path, make: Callable[[], Any], **probes: Callable[[], Any]) -> Any:
    """The record of a training one of whose modules gives out what `make` does."""
    torch.manual_seed(0)
    model = Net(make)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = numbers(8, 4), torch.arange(8) % 3
    with traindx.watch(model, optimizer, out=folder, every=1) as watch:
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            if probes:
                watch.batch(probes["value"](), probes["value"]())
                watch.log(strange=probes["value"](), val_strange=probes["value"]())
                watch.session.outputs(probes["value"]())
            watch.log(loss=loss)
            loss.backward()
            optimizer.step()
    (run,) = pipeline.read_capture(folder)
    return run


@pytest.mark.parametrize("name", HOSTILE)
def test_an_output_that_cannot_be_measured_leaves_all_else(name: str, tmp_path: Path) -> None:
    run = recorded(tmp_path, HOSTILE[name])
    assert not [e for e in run.events if e.code == "capture-failed"]
    assert len(run.series["train/loss"]) == len(run.series["grad_norm"]) == STEPS
    stds = run.panels["act_std"]
    for module in ("first", "act", "last"):
        values = stds.values[:, stds.modules.index(module)]
        assert len(values) == STEPS
        assert np.isfinite(values).all(), module
    assert len([e for e in run.events if e.code == "signal-dropped"]) <= 1


@pytest.mark.parametrize("name", HOSTILE)
def test_a_value_that_cannot_be_read_leaves_all_else(name: str, tmp_path: Path) -> None:
    run = recorded(tmp_path, lambda: numbers(8, 5), value=HOSTILE[name])
    assert not [e for e in run.events if e.code == "capture-failed"]
    assert len(run.series["train/loss"]) == len(run.series["grad_norm"]) == STEPS
    assert set(run.panels["act_std"].modules) >= {"first", "act", "last"}


@pytest.mark.parametrize("scale", [1e-6, 1e-12, 1e-20, 1e-30, 1e-42])
def test_the_rank_of_small_outputs_is_that_of_large_ones(scale: float) -> None:
    values = np.random.default_rng(0).standard_normal((32, 64)).astype(np.float32)
    assert effective_rank(values * np.float32(scale)) == pytest.approx(effective_rank(values), rel=1e-3)
    assert effective_rank(np.zeros((8, 4), np.float32)) == 0.0


def test_a_measure_that_fails_is_left_out_alone_and_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A real failure inside of measuring: PyTorch has no array for this kind of tensor."""
    run = recorded(tmp_path, HOSTILE["meta"])
    assert len(run.series["train/loss"]) == STEPS
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("traindx: ")]
    assert said == [f"traindx: {e.message}" for e in run.events if e.code == "signal-dropped"]
    assert len(said) <= 2
    assert all("the recording goes on" in line for line in said)
