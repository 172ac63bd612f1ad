"""In which mode layers of Flax and Equinox are called."""

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from traindx.capture.jax.modes import Modes
from traindx.capture.process.patches import Patches


class Dropout:
    """As that of `flax.nnx`."""

    def __init__(self, rate: float = 0.5, deterministic: bool = False) -> None:
        self.rate, self.deterministic = rate, deterministic

    def __call__(self, x: int, *, deterministic: bool | None = None) -> int:
        return x + 1


class BatchNorm:
    """As that of `flax.linen`: the mode may be given with the call, by position."""

    use_running_average = None

    def __call__(self, x: int, use_running_average: bool | None = None) -> int:
        return x + 2


class Recorded:
    """A training whose facts are kept, with two modules that Flax could have."""

    def __init__(self) -> None:
        self.active, self.patches, self.facts = True, Patches(), {}
        self.depth = SimpleNamespace(grad=0, update=0, init=0)
        self.begun = False

    def safely(self, call: Any, *args: Any) -> Any:
        return call(*args)

    def fact(self, name: str, value: Any) -> None:
        self.facts[name] = value

    def shares(self) -> tuple[Any, Any]:
        names = "steps_in_eval_mode_share", "validation_in_train_mode_share"
        return tuple(self.facts.get(name) for name in names)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    stream, module = Recorded(), ModuleType("flax.linen")
    module.__spec__ = SimpleNamespace()
    module.Dropout, module.BatchNorm = Dropout, BatchNorm
    for name in ("flax.nnx", "equinox"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "flax.linen", module)
    wanted: dict[str, Any] = {}
    Modes(stream, wanted, stream.depth, lambda: stream.begun)
    assert sorted(wanted) == ["equinox", "flax.nnx"]
    yield stream
    stream.patches.undo()


def trained(stream: Recorded, *calls: Any) -> None:
    stream.depth.grad = 1
    for call in calls:
        call()
    stream.depth.grad, stream.begun = 0, True


def test_dropout_left_on_in_evaluation_is_seen(recorded: Recorded) -> None:
    layer = Dropout()
    trained(recorded, lambda: layer(1))
    assert layer(1) == 2
    assert recorded.shares() == (0.0, 1.0)
    assert recorded.facts["has_dropout"] is True


def test_dropout_that_is_off_in_training_is_seen(recorded: Recorded) -> None:
    layer = Dropout(deterministic=True)
    trained(recorded, lambda: layer(1))
    layer(1)
    assert recorded.shares() == (1.0, 0.0)


def test_a_mode_given_with_the_call_counts_before_that_of_the_layer(recorded: Recorded) -> None:
    drop, norm = Dropout(deterministic=True), BatchNorm()
    trained(recorded, lambda: drop(1, deterministic=False), lambda: norm(1, False))
    assert (norm(1, True), drop(1, deterministic=True)) == (3, 2)
    assert recorded.shares() == (0.0, 0.0)
    assert recorded.facts["has_normalization"] is True


def test_a_frozen_part_and_calls_before_the_first_step_are_no_fault(recorded: Recorded) -> None:
    Dropout()(1)  # the model is initialized, or its shapes are printed
    assert recorded.shares() == (None, None)
    trained(recorded, lambda: Dropout(deterministic=True)(1), lambda: Dropout()(1))  # a frozen trunk
    Dropout(deterministic=True)(1)
    Dropout()(1)  # samples are drawn as well as evaluated
    assert recorded.shares() == (0.0, 0.0)


def test_layers_without_effect_or_of_unknown_mode_are_left_out(recorded: Recorded) -> None:
    trained(recorded, lambda: Dropout(0.0, deterministic=True)(1), lambda: BatchNorm()(1))
    assert recorded.facts == {}
