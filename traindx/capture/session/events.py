"""The events of a training: one small type for each thing that happens.

A part of discovery knows one place of a framework. It emits what happens there, and keeps nothing of the
others. Parts that listen receive an event first, the session (`stream.METHODS`) last. Tensors, models and
optimizers are the framework's own objects; only its backend reads them."""

from collections.abc import Callable
from typing import Any, NamedTuple

# Events for other parts.


class ParametersTrained(NamedTuple):
    """Parameters that will be changed: an optimizer was made of them, or they change by hand."""

    parameters: list[Any]


class ModelCalled(NamedTuple):
    """A root model begins a forward pass; `training` as opposed to evaluation."""

    training: bool


class ModelFed(NamedTuple):
    """A root model gets the batch of a training step."""

    model: Any
    inputs: tuple[Any, ...]
    named: dict[str, Any]


class LossComputed(NamedTuple):
    """A loss function was called: `function(given, *args, **named)` gave `value`."""

    function: Callable[..., Any]
    given: Any
    args: tuple[Any, ...]
    named: dict[str, Any]
    value: Any


class LossScaled(NamedTuple):
    """`scaled` is `loss` times a loss scale."""

    scaled: Any
    loss: Any


class LossDifferentiated(NamedTuple):
    """A backward pass is about to begin from one number, its graph whole, without a loss scale."""

    loss: Any


class StepDue(NamedTuple):
    """An optimizer is about to step; the session learns of it next."""

    optimizer: Any


class Compiled(NamedTuple):
    """Something is compiled: a model, or a `function`, which cannot be observed from inside."""

    function: bool


# Events for the session, in the order of a step. Those that are part of a training open the session.


class ModelFound(NamedTuple):
    model: Any
    name: str


class PartCalled(NamedTuple):
    """The loop calls a part of a model, not the whole."""

    part: Any


class OptimizerFound(NamedTuple):
    optimizer: Any


class ScalerFound(NamedTuple):
    scaler: Any


class DataWaited(NamedTuple):
    seconds: float


class BatchSeen(NamedTuple):
    """As `Session.batch`."""

    inputs: Any
    targets: Any = None
    training: bool | None = None
    source: object = None
    trained: bool = False


class OutputsSeen(NamedTuple):
    """As `Session.outputs`."""

    outputs: Any
    function: str = ""
    classes_second: bool = False


class LossMade(NamedTuple):
    """The training loss of a micro-batch, and the line that it comes from."""

    value: Any
    where: str


class GraphWhole(NamedTuple):
    """The loss that a backward pass is about to begin from; `factor` undoes what it was divided by."""

    loss: Any
    factor: float


class BackwardBegins(NamedTuple):
    """`stale`: whether gradients of the step before are still there; None: not known."""

    stale: bool | None = None


class BackwardEnds(NamedTuple):
    pass


class GradientsClipped(NamedTuple):
    norm: Any
    limit: float


class GradientsZeroed(NamedTuple):
    owner: Any


class StepBegins(NamedTuple):
    optimizer: Any


class StepEnds(NamedTuple):
    optimizer: Any


class StepSkipped(NamedTuple):
    """The gradients were not finite, and no step is made."""


class ValidationPassed(NamedTuple):
    """An evaluation pass over held-out data is over, with its mean."""

    name: str
    value: Any


class MetricLogged(NamedTuple):
    name: str
    value: Any


ASIDE = (MetricLogged, ValidationPassed)  # what still counts when there are no more steps
OPENING = (ModelFound, BatchSeen, ScalerFound, BackwardBegins, StepBegins)
