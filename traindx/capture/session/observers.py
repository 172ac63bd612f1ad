"""What a backend may observe of a training besides parameters, gradients and updates: batches, losses,
readings of modules. Each protocol is one occasion. An observer implements those that it has something to do
at, and no others."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from traindx.vocabulary import Fact


@runtime_checkable
class ModelListener(Protocol):
    """Called for models and optimizers."""

    def add_model(self, model: Any, name: str) -> None:
        """A root module, and the prefix of its modules' names."""

    def add_part(self, part: Any) -> None:
        """The loop calls this part of a model, not the whole."""

    def add_optimizer(self, optimizer: Any) -> None:
        """An optimizer is new, or is about to make a sampled step."""

    def forget_freed(self) -> None:
        """The script has freed a model or an optimizer: keep nothing of it for a later step."""


@runtime_checkable
class BatchListener(Protocol):
    def batch(self, inputs: Any, targets: Any, training: bool | None, reported: bool, *whose: Any) -> None:
        """A batch passes by. `reported`: by the loop, and not seen as a model's input. `whose`: a mark of
        its data set, and whether that is trained on."""


@runtime_checkable
class LossListener(Protocol):
    """Called for losses, and for what they are computed from."""

    wants_outputs: bool  # `outputs`, and targets of batches, are still worth reporting

    @property
    def wants_losses(self) -> bool:
        """`before_backward` has something to look for."""

    def outputs(self, output: Any, classes_second: bool = False) -> None:
        """What a loss is computed from. `classes_second`: classes are the second dimension."""

    def nonfinite_loss(self, loss: Any) -> None:
        """A loss is NaN or infinite."""

    def before_backward(self, loss: Any, factor: float, step: int) -> dict[str, float]:
        """The graph of a loss is whole, and about to be freed. Returns signals."""


@runtime_checkable
class StepListener(Protocol):
    """Called at the beginning of a step's parts."""

    @property
    def waiting(self) -> bool:
        """There is something to do at the next step though it is not sampled."""

    def prepare(self, before: bool, sampling: bool, phases: bool) -> None:
        """Whether the coming step is sampled (as the one `before` was), and timed by its phases."""

    def backward_begin(self) -> None:
        """A backward pass is about to begin."""

    def step_begins(self, optimizer: Any, sampled: bool, factor: float, scalars: dict[str, Any]) -> None:
        """An optimizer is about to use the gradients; `factor` undoes their scale. Signals are added to
        `scalars`."""

    def local_norm(self, optimizer: Any, factor: float) -> Any:
        """The norm of the gradients that this process holds of distributed ones; None where they are
        whole."""

    def abandon(self) -> None:
        """The step was not made, or nothing is recorded any more: forget what was kept for it."""


@runtime_checkable
class SampleListener(Protocol):
    """Takes readings on sampled steps."""

    seconds: float  # spent on that so far

    def finish(self) -> None:
        """A sampled step was made: add its readings to `view.vectors`."""


@runtime_checkable
class FactSource(Protocol):
    def facts(self) -> dict[str, Fact]:
        """What is known of the setup so far."""

    def release(self) -> None:
        """The recording ends: remove all hooks."""


@runtime_checkable
class FinalSource(Protocol):
    def final_signals(self) -> dict[str, Any]:
        """Signals that are computed once, when the training is over."""


class Observers:
    """The observers of a backend, by the occasions that they listen to."""

    def __init__(self, observers: Sequence[object]) -> None:
        self.models = [each for each in observers if isinstance(each, ModelListener)]
        self.batches = [each for each in observers if isinstance(each, BatchListener)]
        self.losses = [each for each in observers if isinstance(each, LossListener)]
        self.steps = [each for each in observers if isinstance(each, StepListener)]
        self.samples = [each for each in observers if isinstance(each, SampleListener)]
        self.sources = [each for each in observers if isinstance(each, FactSource)]
        self.final_sources = [each for each in observers if isinstance(each, FinalSource)]
