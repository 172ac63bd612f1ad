"""What capture takes for itself is no part of what it records of the training, and it takes little memory."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import traindx  # noqa: E402
from traindx.capture.process.guard import guard_method, without_warnings  # noqa: E402
from traindx.capture.session import pace  # noqa: E402
from traindx.capture.session.clock import Clock  # noqa: E402
from traindx.capture.session.measures import Measures  # noqa: E402
from traindx.capture.session.pace import PHASES, START_PHASES  # noqa: E402
from traindx.capture.session.steps import PATIENCE, TOGETHER, Queue, Row  # noqa: E402
from traindx.capture.torch.hooks import CALLS  # noqa: E402
from traindx.capture.torch.measure.forward_pass.module_outputs import ForwardProbe  # noqa: E402
from traindx.capture.torch.measure.gradients import norms_and_updates as measure_parameters  # noqa: E402
from traindx.capture.torch.measure.gradients.norms_and_updates import WINDOW, Updates  # noqa: E402
from traindx.capture.torch.measure.models.tree import Tree  # noqa: E402


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def spend(self, seconds: float) -> None:
        self.seconds += seconds


class Observer:
    """Guarded work of a known length, one piece of it within another."""

    active = True

    def __init__(self, hands: Hands) -> None:
        self.hands, self.clock = hands, Clock(hands)

    def failed(self, where: str, error: Exception) -> None:
        raise AssertionError(where) from error

    @guard_method
    def look(self) -> None:
        self.hands.spend(1.0)
        self.note()
        self.hands.spend(1.0)

    @guard_method
    def note(self) -> None:
        self.hands.spend(5.0)

    @guard_method
    def stop(self) -> None:
        self.hands.spend(2.0)
        raise KeyboardInterrupt


def test_the_clock_stops_while_capture_is_at_work() -> None:
    hands = Hands()
    observer = Observer(hands)
    clock = observer.clock
    clock.lap()
    clock.begin("forward")
    hands.spend(0.25)
    observer.look()  # a hook within the forward pass
    hands.spend(0.25)
    clock.end("forward")
    observer.note()
    hands.spend(0.125)
    assert clock.lap() == {"time/forward": 0.5, "time/step": 0.625}
    assert clock.own == 12.0
    with pytest.raises(KeyboardInterrupt):
        observer.stop()
    hands.spend(0.5)
    assert clock.lap() == {"time/step": 0.5}


def test_a_phase_that_begins_and_ends_inside_of_capture() -> None:
    """What a step's begin and end take before and after the optimizer is not the optimizer's."""
    hands = Hands()
    clock = Clock(hands)
    assert clock.enter()
    hands.spend(3.0)
    clock.begin("optimizer")
    hands.spend(4.0)
    clock.leave()
    hands.spend(0.5)
    assert clock.enter()
    assert not clock.enter()
    hands.spend(7.0)
    clock.end("optimizer")
    clock.leave()
    assert clock.lap() == {"time/optimizer": 0.5}


def slow(function: Any, seconds: float) -> Any:
    """The function, made to take longer: busy, as measuring is."""

    def slower(*given: Any, **named: Any) -> Any:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass
        return function(*given, **named)

    return slower


def test_sampled_steps_are_not_recorded_as_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tenth step takes 0.1 s to measure: in the pass, before the step, after it, and in handing on.
    The steps themselves take a hundredth of that, on whatever machine."""
    for owner, name in (
        (ForwardProbe, "_read"),
        (Measures, "begin"),
        (Measures, "end"),
        (Measures, "panels"),
    ):
        monkeypatch.setattr(owner, name, slow(getattr(owner, name), 0.02))
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=10) as watch:
        for _ in range(50):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(torch.randn(32, 6)), torch.zeros(32).long())
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
        own = watch.session.clock.own
    run = traindx.read(tmp_path)
    assert own > 5 * 0.1
    for name in ("time/step", "time/forward", "time/backward", "time/optimizer"):
        curve = run.series[name]
        sampled = [v for s, v in zip(curve.steps, curve.values, strict=True) if s % 10 == 1 and s > 1]
        assert sampled
        assert min(sampled) < 0.02 + float(np.median(curve.values)), name


def test_fast_steps_are_listened_to_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the hundredth step on, every eighth is timed by its phases; all that is seen without is there
    for each, and what is counted is counted over the steps that were seen."""
    monkeypatch.setattr(pace, "FAST", math.inf)  # on a busy machine, too
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    hooked = []
    with traindx.watch(model, optimizer, out=tmp_path, every=1000) as watch:
        for _ in range(300):
            optimizer.zero_grad()
            for _ in range(2):
                loss = functional.cross_entropy(model(torch.randn(32, 6)), torch.zeros(32).long()) / 2
                loss.backward()
                watch.log(loss=loss)
            hooked.append(len(CALLS[id(model)].after))
            optimizer.step()
    assert set(hooked[2:START_PHASES]) == {1}
    assert sum(map(bool, hooked[START_PHASES:])) == 200 / PHASES
    run = traindx.read(tmp_path)
    assert len(run.series["grad_norm"]) == len(run.series["throughput"]) + 1 == 300
    assert len(run.series["time/forward"]) == START_PHASES + 200 / PHASES
    assert run.setup.number("backwards_per_step") == 2
    assert run.setup.number("zero_grad_missing_steps") == 0
    assert run.setup.number("zero_grad_checked_steps") == START_PHASES + 200 / PHASES - 1


def test_at_most_a_window_of_each_parameter_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = [torch.randn(size, requires_grad=True) for size in (3 * WINDOW, 10, WINDOW)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    copied: list[int] = []

    class Counted(np.ndarray):  # type: ignore[type-arg]
        def copy(self, order: Any = "C") -> Any:
            copied.append(self.size)
            return np.array(self)

    stretch = measure_parameters.stretch
    monkeypatch.setattr(measure_parameters, "stretch", lambda *given: stretch(*given).view(Counted))
    updates = Updates(device=False)
    updates.begin(parameters)
    assert copied == [WINDOW, 10, WINDOW]
    assert np.isfinite(updates.end(3)).all()


def test_every_part_of_a_parameter_is_looked_at() -> None:
    """The window moves on: an update of a value near the end is seen on some turns."""
    parameter = torch.ones(2 * WINDOW + WINDOW // 2, requires_grad=True)
    parameter.grad = torch.ones_like(parameter)
    updates, seen = Updates(device=False), []
    for _ in range(16):
        updates.begin([parameter])
        with torch.no_grad():
            parameter[-9] += 1
        seen.append(updates.end(1)[0] > 0)
    assert any(seen)
    assert not all(seen)


def test_update_ratios_are_of_the_weights_before_the_step(tmp_path: Path) -> None:
    """A step that takes all weights to zero changed them by all of their size."""
    model = nn.Linear(4, 2, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with traindx.watch(model, optimizer, out=tmp_path, every=1):
        (model.weight.square().sum() / 2).backward()
        optimizer.step()
    assert not model.weight.any()
    assert traindx.read(tmp_path).panels["update_ratio"].values.tolist() == [[1.0]]


def test_rows_wait_for_others_but_not_for_long() -> None:
    done: list[int] = []
    queue = Queue(lambda row: done.append(row.step), lambda waiting: [], lambda what, error: None)
    queue.add(Row(1, 100.0), device=False)
    assert done == [1]
    for i in range(TOGETHER - 1):
        queue.add(Row(2 + i, 100.0), device=False)
    assert done == [1]
    queue.add(Row(TOGETHER + 1, 100.0), device=False)
    assert done == list(range(1, TOGETHER + 2))
    queue.add(Row(50, 100.0), device=False, urgent=True)
    assert done[-1] == 50
    queue.add(Row(51, 100.0 + 2 * PATIENCE), device=True)
    assert done[-1] == 50
    queue.add(Row(52, 100.0 + 2 * PATIENCE), device=False)
    assert done[-2:] == [51, 52]


@pytest.mark.filterwarnings("error")
def test_overflow_is_quiet_inside_and_loud_outside() -> None:
    large = np.full(4, 1e30, np.float32)
    assert without_warnings(np.dot, large, large) == math.inf
    with pytest.raises(RuntimeWarning):
        np.dot(large, large)


def test_compiled_parts_have_no_hooks() -> None:
    plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    own = nn.Sequential(nn.Linear(4, 4))
    tree, parts_of = Tree(), []
    try:
        parts = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
        own.compile()
        parts_of = tree.add(nn.ModuleDict({"plain": plain, "parts": parts, "own": own}), "") or []
    finally:
        torch._dynamo.reset()  # that something was compiled is known to the whole process
    assert [name for name, _ in tree.leaves] == ["plain.0", "plain.1"]
    assert len(parts_of) == 6


@pytest.mark.parametrize("bootstrapped", [True, False])
def test_a_pass_without_gradients_in_every_step_makes_samples_no_more_frequent(
    bootstrapped: bool, tmp_path: Path
) -> None:
    """Targets that the model itself makes (Q-learning without a target network, pseudo-labels)."""
    torch.manual_seed(0)
    steps = 600
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with traindx.watch(model, optimizer, out=tmp_path / "run"):
        for _ in range(steps):
            x = torch.randn(32, 8)
            outputs = model(x)
            with torch.no_grad():
                targets = 0.9 * model(x) if bootstrapped else torch.randn(32, 1)
            loss = functional.mse_loss(outputs, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    sampled = len(traindx.read(tmp_path / "run").panels["act_mean"].steps)
    assert 10 < sampled < steps / 4
