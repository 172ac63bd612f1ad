"""All that a session knows of a framework.

Models, optimizers, parameters and losses are objects that are passed through; only a backend looks into
them. What a framework does not have is left as it is here: a backend begins with the module tree, the
optimizer's parameters and the sums of squares, and is recorded from the first step on. Observers
(`observers.py`) record what only hooks inside of a framework can see: activations, batches, graphs. A
backend without observers records everything else."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np

from traindx.capture.session.layout import Part
from traindx.vocabulary import Fact, Floats

Tell = Callable[..., None]  # code, message, aloud
Failed = Callable[[str, Exception], None]


class Rate(NamedTuple):
    """The learning rate of one group of an optimizer's parameters; `signal` is `lr`, or `lr/<group>`."""

    signal: str
    value: Any


class Updates(Protocol):
    """Change of weights over one step, of a part of each parameter that moves on from sample to sample."""

    turn: int  # samples so far

    @property
    def number_format(self) -> str:
        """The shorter format on whose grid all gradients lie; "" where they are finer, or that is not
        known."""

    def begin(self, parameters: Sequence[Any]) -> Any:
        """Before the step: `zero_share[p]` of the gradients, NaN without a gradient."""

    def end(self, count: int) -> Any:
        """After it, `[3 * count]`: norms of the changes, of the weights before, shares that did not
        change."""


class Backend(Protocol):
    """One framework. `parameters` are in its own form, here and everywhere."""

    name: str  # as the record gives it: "torch"
    libraries: tuple[str, ...] = ()  # whose versions are recorded where they are loaded

    # The module tree, and what optimizers hold.

    def parts(self, model: Any, prefix: str) -> Sequence[Part] | None:
        """All parameters of a model with their names behind `prefix`; None where the model is known
        already."""

    def architecture(self, model: Any) -> dict[str, Fact]:
        """Setup facts about a model."""
        return {}

    def size(self, parameter: Any) -> int:
        """How many values it has."""

    def trainable(self, parameter: Any) -> bool:
        return True

    def parameters_of(self, optimizer: Any) -> list[Any]:
        """The parameters of an optimizer, group by group."""

    def count(self, optimizer: Any) -> int:
        """How many those are; asked at every step."""
        return len(self.parameters_of(optimizer))

    def rates(self, optimizer: Any) -> list[float]:
        """The learning rate of each of them; nothing where it cannot be seen."""
        return []

    def rate_signals(self, optimizer: Any) -> Iterable[Rate]:
        """The learning rates as signals, one a group that has its own."""
        return [Rate("lr", rate) for rate in self.rates(optimizer)[:1]]

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        """Kind and settings of an optimizer."""
        return {"optimizer": type(optimizer).__name__}

    # Numbers. On an accelerator they stay there, until many are fetched in one copy.

    def elsewhere(self, parameters: Sequence[Any]) -> bool:
        """Whether parameters lie on an accelerator."""
        return False

    def gradient_squares(self, parameters: Sequence[Any], elsewhere: bool) -> Any:
        """On the host a list with the sum of squares of each gradient, elsewhere a vector of their norms."""

    def global_norm(self, norms: Any) -> Any:
        """The norm of such norms, where they lie."""
        return float(np.sqrt(np.square(norms).sum()))

    def stale(self, parameters: Sequence[Any], elsewhere: bool) -> bool:
        """Whether any of some small parameters has a gradient that is not zero (elsewhere: that is
        there)."""
        return False

    def loss_scale(self, optimizer: Any) -> float | None:
        """The scale that the optimizer itself will take out of the gradients."""
        return None

    def scale_of(self, scaler: Any) -> Any:
        """The current scale of a loss scaler, as `number` returns it; None where it has none yet."""
        return None

    def updates(self, elsewhere: bool) -> Updates | None:
        """None where the weights before and after a step are not accessible."""
        return None

    def read(self, kind: str, parameters: Sequence[Any], elsewhere: bool) -> Any:
        """The reading of a family of signals that is read of every parameter (`weights`, by
        `signals/weights.py`); None where the framework does not have it."""
        return None

    def number(self, value: Any) -> Any:
        """A float where it is on the host, else what can be fetched later; None where it is no
        number."""
        try:
            return float(value)
        except (TypeError, ValueError):
            return None

    def reduce_over_processes(self, value: Any) -> Any:
        """A number that was computed over processes, as this one has it; None where it is still to be summed
        up."""
        return value

    def clip_at_one(self, ratio: Any) -> Any:
        """A ratio that was clipped at 1."""
        return min(1.0, ratio)

    def fetch(self, values: Sequence[Any]) -> list[Floats]:
        """Values that are elsewhere, with one copy for each device that they are on."""
        return [np.atleast_1d(np.asarray(v, np.float64)) for v in values]

    def device_memory(self) -> float | None:
        """Bytes in use on the accelerator; asking must not wait for it."""
        return None

    def apart(self) -> AbstractContextManager[object]:
        """Entered while capture is at work: its operations are then not those of the script."""
        return nullcontext()

    def observers(self, view: Any) -> Sequence[object]:
        """Objects that implement some of the protocols of `observers.py`. `view` is the session's `Watched`:
        what they may read, and where they put readings, signals of the step and facts."""
        return ()
