"""A session from end to end: what a loop does is what a run of the store says, and nothing it does
wrong stops the training."""

from __future__ import annotations

import math
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
from traindx.capture.session.session import UNSTEPPED  # noqa: E402
from traindx.capture.torch.backend import torch_session  # noqa: E402
from traindx.capture.watch import Watch  # noqa: E402
from traindx.vocabulary.run import Run  # noqa: E402


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


def fit(
    out: Path | None,
    steps: int = 8,
    *,
    model: nn.Module | None = None,
    optimizer: Any = None,
    zero: bool = True,
    loss_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = functional.cross_entropy,
    batch: Callable[[int], torch.Tensor] = lambda step: torch.randn(32, 6),
    **options: Any,
) -> Watch[Any]:
    """A plain loop under `traindx.watch`."""
    model = model or net()
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=out, **options) as watch:
        for step in range(steps):
            x, y = batch(step), torch.randint(0, 3, (32,))
            watch.batch(x, y)
            if zero:
                optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
    return watch


def read(folder: Path) -> Run:
    return traindx.read(folder)


def test_a_loop_is_recorded(tmp_path: Path) -> None:
    losses: list[float] = []

    def logged(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = functional.cross_entropy(out, y)
        losses.append(float(loss.detach()))
        return loss

    model = net()
    optimizer = torch.optim.SGD(
        [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.5, "name": "head"}],
        lr=0.1,
    )
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.register_step_post_hook(lambda *a: schedule.step())
    fit(tmp_path, 6, model=model, optimizer=optimizer, loss_of=logged)
    run = read(tmp_path)
    assert run.series["train/loss"].values.tolist() == losses
    assert run.series["train/loss"].steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert run.complete
    assert run.framework == "torch"
    for name in ("time/step", "time/forward", "time/backward", "time/optimizer", "throughput", "mem/host"):
        assert (run.series[name].values > 0).all(), name
    assert len(run.series["time/step"]) == 5
    assert run.setup.optimizer == "SGD"
    assert (run.setup.lr, run.setup.batch_size, run.setup.model) == (0.5, 32, "Sequential")
    assert run.setup.number("backwards_per_step") == 1
    assert run.setup.flag("model_training_mode_during_backward")
    assert "lr/head" in run.series


def test_validation_and_metrics_and_gradient_accumulation(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    logged: list[float] = []
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for step in range(40):
            optimizer.zero_grad()
            for _ in range(4):
                loss = (
                    functional.cross_entropy(model(torch.randn(8, 6)), torch.zeros(8, dtype=torch.long)) / 4
                )
                loss.backward()
                watch.log(loss=loss)
                logged.append(float(loss.detach()))
            optimizer.step()
            if step % 10 == 9:
                with torch.no_grad():
                    model(torch.randn(8, 6))
                watch.log(val_loss=torch.tensor(0.5), accuracy=step / 40, val_accuracy="not a number")
    run = read(tmp_path)
    np.testing.assert_allclose(
        run.series["train/loss"].values, np.reshape(logged, (40, 4)).mean(1), rtol=1e-6
    )
    assert run.series["val/loss"].steps.tolist() == [10, 20, 30, 40]
    assert run.series["train/accuracy"].values.tolist() == [9 / 40, 19 / 40, 29 / 40, 39 / 40]
    assert "val/accuracy" not in run.series
    assert run.setup.number("backwards_per_step") == 4
    assert run.setup.batch_size == 32
    assert run.setup.number("zero_grad_missing_steps") == 0
    assert not {11, 21, 31} & set(run.series["time/step"].steps)
    assert (run.series["grad_noise_scale"].values > 0).all()


@pytest.mark.parametrize("zero", [True, False])
def test_gradients_that_are_not_zeroed_are_counted(zero: bool, tmp_path: Path) -> None:
    fit(tmp_path, 10, zero=zero)
    setup = read(tmp_path).setup
    assert setup.number("zero_grad_checked_steps") == 9
    assert setup.number("zero_grad_missing_steps") == (0 if zero else 9)


def test_clipping_is_undone_in_what_is_recorded(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    session = torch_session(tmp_path, every=1)
    session.add_model(model)
    session.add_optimizer(optimizer)
    logged = []
    for _ in range(5):
        optimizer.zero_grad()
        session.zero_grad(optimizer)
        functional.cross_entropy(model(torch.randn(32, 6)), torch.zeros(32, dtype=torch.long)).backward()
        logged.append([float(m.weight.grad.norm()) for m in (model[0], model[2])])
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        session.clip(norm, 1e-3)
        session.optimizer_step_begin(optimizer)
        optimizer.step()
        session.optimizer_step_end(optimizer)
    session.close()
    run = read(tmp_path)
    np.testing.assert_allclose(
        run.series["clip_ratio"].values * run.series["grad_norm"].values, 1e-3, rtol=1e-3
    )
    assert (run.panels["grad_norm"].values > np.array(logged) * 0.999).all()
    assert run.setup.clip_norm == 1e-3


def test_parameters_that_no_step_reaches(tmp_path: Path) -> None:
    """Frozen, forgotten by the optimizer, cut off from the loss, and stuck by rounding."""

    class Parts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.frozen, self.forgotten, self.cut = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
            self.stuck, self.head = nn.Linear(6, 6), nn.Linear(6, 3)
            self.frozen.requires_grad_(False)
            with torch.no_grad():
                self.stuck.weight.fill_(1e6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.cut(self.frozen(x)).detach() + self.forgotten(x)
            return self.head(torch.tanh(self.stuck(x) * 1e-7))

    model = Parts()
    kept = [p for n, p in model.named_parameters() if not n.startswith("forgotten")]
    fit(tmp_path, 6, model=model, optimizer=torch.optim.SGD(kept, lr=1e-3), every=1)
    setup = read(tmp_path).setup
    assert (setup.number("parameters_frozen"), setup.word("parameters_frozen_names")) == (
        42,
        "frozen.weight, frozen.bias",
    )
    assert setup.number("parameters_without_optimizer") == 42
    assert setup.word("parameters_without_gradient_names") == "cut.weight, cut.bias"
    assert setup.word("parameters_not_moving_names") == "stuck.weight, stuck.bias"


def test_a_healthy_net_has_none_of_these(tmp_path: Path) -> None:
    fit(tmp_path, 6, every=1)
    setup = read(tmp_path).setup
    for name in ("frozen", "without_optimizer", "without_gradient", "with_zero_gradient", "not_moving"):
        assert setup.number(f"parameters_{name}") == 0
    assert setup.flag("loss_input_looks_like_probabilities") is False
    assert setup.number("outputs_width") == 3
    assert (setup.number("label_min"), setup.number("label_max")) == (0, 2)


def test_probabilities_fed_to_a_loss(tmp_path: Path) -> None:
    fit(tmp_path, 3, model=nn.Sequential(*net(), nn.Softmax(-1)))
    assert read(tmp_path).setup.flag("loss_input_looks_like_probabilities") is True


@pytest.mark.parametrize(("operation", "gradient_too"), [("log", False), ("sqrt", True), ("exp", True)])
def test_the_first_value_that_is_not_finite_is_located(
    operation: str, gradient_too: bool, tmp_path: Path
) -> None:
    """The loss is infinite or NaN in step 3; for a logarithm of zero after a ReLU its gradient is not."""
    unstable = {
        "log": lambda out, y: -torch.log(functional.relu(out)).mean(),
        "sqrt": lambda out, y: torch.sqrt(out).mean(),
        "exp": lambda out, y: torch.exp(1000 * out).mean(),
    }
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for step in range(4):
            optimizer.zero_grad()
            loss_of = unstable[operation] if step == 2 else functional.cross_entropy
            loss = loss_of(model(torch.randn(32, 6)), torch.zeros(32).long())
            watch.log(loss=loss)
            loss.backward()
            optimizer.step()
    run = read(tmp_path)
    assert run.setup.number("nonfinite_first_step/train/loss") == 3
    assert run.setup.word("nonfinite_first_direction") == "forward"
    assert run.setup.word("nonfinite_first_operation") == operation
    assert run.setup.word("nonfinite_first_module") == "2"
    assert [e.place for e in run.events if e.code == "nonfinite-first"] == ["train/loss", "grad_norm"][
        : 1 + gradient_too
    ]
    assert [e.place for e in run.events if e.code == "nonfinite-gradient"] == ["2"] * gradient_too
    assert run.panels["grad_nonfinite"].values[2].max() == gradient_too


@pytest.mark.parametrize("given", ["inputs", "targets"])
def test_a_batch_that_breaks_the_loss_is_distinguished_from_an_operation(given: str, tmp_path: Path) -> None:
    """The batch is not one of those whose data are looked at: only the graph of the broken loss shows it."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for step in range(4):
            x, y = torch.randn(32, 6), torch.randn(32, 3)
            if step == 2:
                (x if given == "inputs" else y)[3, 1] = float("nan")
            optimizer.zero_grad()
            loss = functional.mse_loss(model(x), y)
            watch.log(loss=loss)
            loss.backward()
            optimizer.step()
    assert read(tmp_path).setup.word("nonfinite_first_direction") == given


def test_the_flight_recorder_lands_when_something_breaks(tmp_path: Path) -> None:
    """Modules are measured on few steps; the last ones are there all the same, and in their place."""

    def bad(step: int) -> torch.Tensor:
        return torch.randn(32, 6) * (math.inf if step == 150 else 1)

    fit(tmp_path, 170, every=100, batch=bad)
    run = read(tmp_path)
    steps = run.panels["grad_norm"].steps
    assert set(range(1, 151)) <= set(steps.tolist())
    assert (np.diff(steps) > 0).all()
    assert len(run.panels["weight_norm"].steps) < 10
    assert run.series["train/loss"].steps.tolist() == list(range(1, 171))
    assert run.setup.number("inputs_nonfinite") is not None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [math.nan, math.inf, 1e30])
def test_values_that_are_not_finite_make_no_noise(value: float, tmp_path: Path) -> None:
    """Whatever passes by, the user's stderr stays the user's."""
    fit(tmp_path, 40, every=1, batch=lambda step: torch.randn(32, 6) * (value if step % 3 == 2 else 1))
    run = read(tmp_path)
    assert not [e for e in run.events if e.code == "capture-failed"]
    assert len(run.series["lr"]) == 40


def test_loops_without_an_optimizer_count_backward_passes(tmp_path: Path) -> None:
    model = net()
    session = torch_session(tmp_path, every=1)
    session.add_model(model)
    for _ in range(UNSTEPPED + 20):
        loss = functional.cross_entropy(model(torch.randn(32, 6)), torch.zeros(32, dtype=torch.long))
        session.loss(loss)
        session.backward_begin()
        loss.backward()
        session.backward_end()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None
    session.close()
    run = read(tmp_path)
    assert run.setup.word("steps_counted_by") == "backward"
    assert run.series["train/loss"].steps.tolist() == list(range(1, UNSTEPPED + 21))
    assert (np.diff(run.series["train/loss"].values)[:20] < 0).all()
    assert (run.panels["update_ratio"].values[1:] > 0).all()


def test_two_optimizers_and_two_losses(tmp_path: Path) -> None:
    loop = loops.gan()
    with traindx.watch(loop.models, loop.optimizers, out=tmp_path, every=1) as watch:
        for step in range(6):
            loop.step(lambda loss: watch.log(loss=loss))
            watch.session.loss(float(step), where="gan.py:40")
    run = read(tmp_path)
    assert set(run.series) >= {
        "lr",
        "grad_norm",
        "optimizer/1/lr",
        "optimizer/1/grad_norm",
        "train/gan.py:40_loss",
    }
    assert len(run.series["train/loss"]) == 6
    assert {m.split(".")[0] for m in run.panels["update_ratio"].modules} == {"0", "1", "2"}


def test_a_value_that_cannot_be_read_is_left_out_and_the_recording_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Hostile:
        def __getattr__(self, name: str) -> None:
            raise ValueError("hostile")

    model, reference = net(), net()
    reference.load_state_dict(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for step in range(5):
            optimizer.zero_grad()
            model(torch.ones(4, 6)).sum().backward()
            watch.log(loss=Hostile() if step in (2, 3) else 1.0)
            optimizer.step()
    assert capsys.readouterr().err.count("traindx: loss:") == 1
    assert not torch.equal(model[0].weight, reference[0].weight)
    run = read(tmp_path)
    assert run.series["train/loss"].steps.tolist() == [1, 2, 5]
    assert len(run.series["grad_norm"]) == 5
    assert not [e for e in run.events if e.code == "capture-failed"]
    said = [e.message for e in run.events if e.code == "signal-dropped"]
    assert said[0] == "loss: could not be measured at step 3 (ValueError: hostile); the recording goes on"


def test_an_exception_in_the_loop_is_recorded_and_goes_on(tmp_path: Path) -> None:
    def fail(step: int) -> torch.Tensor:
        if step == 5:
            raise RuntimeError("no more data")
        return torch.randn(32, 6)

    with pytest.raises(RuntimeError, match="no more data"):
        fit(tmp_path, batch=fail)
    run = read(tmp_path)
    assert [e.message for e in run.events if e.kind == "crash"] == ["RuntimeError: no more data"]
    assert run.complete is False
    assert len(run.series["train/loss"]) == 5


@pytest.mark.parametrize("late", [False, True])
def test_clipping_after_the_step(late: bool, tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    session = torch_session(tmp_path)
    session.add_model(model)
    for _ in range(4):
        session.batch(torch.randn(4, 6), torch.tensor([1.0, 2.0, 3.0, 0.0]))
        session.backward_begin()
        model(torch.randn(4, 6)).sum().backward()
        session.backward_end()
        if not late:
            session.clip(nn.utils.clip_grad_norm_(model.parameters(), 0.1), 0.1)
        session.optimizer_step_begin(optimizer)
        optimizer.step()
        session.optimizer_step_end(optimizer)
        if late:
            session.clip(nn.utils.clip_grad_norm_(model.parameters(), 0.1), 0.1)
    session.close()
    run = read(tmp_path)
    assert run.setup.number("clip_after_step") == (4 if late else None)
    assert ("clip_ratio" in run.series) != late
    assert run.setup.flag("targets_whole")
    assert run.setup.flag("targets_binary") is False


def test_what_is_not_measured_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit(tmp_path, 2, curvature=True)
    assert "the loss must be given before its backward pass" in capsys.readouterr().err
    assert [e.code for e in read(tmp_path).events] == ["not-measured"]
