"""In the script's process: applies interventions to trainings in Keras, and ends the script when one of them
fails.

Models, data and settings are changed when a `fit` (or the first `train_on_batch`) begins; gradients and
rates where the optimizer uses them, in functions of `keras.ops` that are compiled along with the step."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
from keras.src.optimizers.base_optimizer import BaseOptimizer

from traindx.capture.experiment import site as shared
from traindx.capture.experiment.applies import apply_all
from traindx.capture.experiment.ending import Guard, Hook
from traindx.capture.interventions.kinds import Given
from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.notes import optimizers_of
from traindx.capture.process.patches import set_within
from traindx.capture.session import Stream

Arguments = dict[str, Any]  # of `fit`, by name
INTERVENTIONS = "traindx.capture.keras.interventions"  # imported by name: they are built on what is here


class Hooks(Guard):
    """All hooks by place, each with the site that it is of."""

    def __init__(self, request: dict[str, Any], stream: Stream, alone: bool) -> None:
        super().__init__(request, stream)
        self.alone = alone  # no other framework's experiment was begun before
        self.models: list[tuple[Any, Hook]] = []
        self.data: list[tuple[Any, Hook]] = []
        self.gradients: list[tuple[Any, Hook]] = []
        self.rates: list[tuple[Any, Hook]] = []
        self.applied: list[tuple[Any, Hook]] = []
        self.steps: list[tuple[Any, Hook]] = []
        self.bases: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()
        self.inside_fit = False


class Site(shared.Site):
    """One intervention, and the places to hook into."""

    hooks: Hooks

    def on_model(self, hook: Callable[[Any], None]) -> None:
        """`hook(model)`, once, when a model's first training begins: before anything is compiled."""
        self.hooks.models.append((self, hook))

    def on_data(self, hook: Callable[[Any, Arguments], None]) -> None:
        """`hook(model, arguments)` before each `fit`, whose arguments may be changed. A script that makes
        its batches itself is refused."""
        self.hooks.data.append((self, hook))

    def on_gradients(self, hook: Callable[[Any, list[Any]], list[Any]]) -> None:
        """`hook(optimizer, gradients)` returns others; after the script's own clipping, within the compiled
        step."""
        self.hooks.gradients.append((self, hook))

    def on_rate(self, hook: Callable[[Any, Any, Any], Any]) -> None:
        """`hook(optimizer, rate, step)` returns another rate: of tensors within the compiled step, and of
        numbers when the rate is recorded. `step` counts from 0."""
        self.hooks.rates.append((self, hook))

    def around_apply(self, hook: Callable[..., Any]) -> None:
        """`hook(apply, optimizer, gradients, variables)` around the optimizer's step, within the compiled
        one."""
        self.hooks.applied.append((self, hook))

    def on_step(self, hook: Callable[[Any, float], None]) -> None:
        """`hook(model, norm)` on the host after each step: `norm` of all gradients, as they were
        measured."""
        self.hooks.steps.append((self, hook))

    def base(self, optimizer: Any) -> float:
        """The rate with which an optimizer was made; of a schedule its highest known value."""
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        if inner not in self.hooks.bases:
            self.hooks.bases[inner] = base_of(inner)
        return self.hooks.bases[inner]


def base_of(optimizer: Any) -> float:
    rate = optimizer._learning_rate
    if isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
        found = [getattr(rate, name, None) for name in ("warmup_target", "initial_learning_rate")]
        return next((float(one) for one in found if one), 0.0) or float(keras.ops.convert_to_numpy(rate(0)))
    return float(
        keras.ops.convert_to_numpy(rate() if callable(rate) and not hasattr(rate, "numpy") else rate)
    )


class Experiment:
    """All interventions of a run, in their order."""

    def __init__(
        self, request: dict[str, Any], stream: Stream, given: Sequence[Given], *, alone: bool = True
    ) -> None:
        self.hooks, self.stream = Hooks(request, stream, alone), stream
        self.sites = [Site(self.hooks, one.spec) for one in given]
        self._known: list[Any] = []  # models
        self._inside = False  # the optimizer's own step
        if not self.sites:
            return
        apply_all(self.sites, given, INTERVENTIONS)
        self.hooks.patches.around(BaseOptimizer, "__init__", self._made)
        self.hooks.patches.replace(BaseOptimizer, "apply", self._applied)
        self.hooks.patches.around(BaseOptimizer, "_clip_gradients", self._clipped)
        self.hooks.patches.around(BaseOptimizer, "_get_current_learning_rate", self._rated)

    # When a training begins.

    def fitted(self, model: Any, arguments: Arguments) -> None:
        """A `fit` begins."""
        self.begins(model)
        for site, hook in self.hooks.data:
            self.hooks.guarded(site, hook, model, arguments)

    def by_hand(self, model: Any) -> None:
        """Batches of the script's own making are trained on."""
        for site, _ in self.hooks.data:
            self.hooks.guarded(site, site.refuse, "the script makes its batches itself")
        self.begins(model)

    def looped(self) -> None:
        """A loop of the script's own trains: of that only the length and the seed can be changed."""
        hooks = self.hooks
        for site, _ in [*hooks.models, *hooks.data, *hooks.gradients, *hooks.rates, *hooks.applied]:
            hooks.guarded(site, site.refuse, "the script's own loop trains, not `fit` or `train_on_batch`")

    def begins(self, model: Any) -> None:
        if not self.sites or any(known is model for known in self._known):
            return
        self._known.append(model)
        for optimizer in optimizers_of(model):  # within the compiled step no rate can be read
            inner = getattr(optimizer, "inner_optimizer", optimizer)
            self.hooks.bases.setdefault(inner, base_of(inner))
        for site, hook in self.hooks.models:
            self.hooks.guarded(site, hook, model)
        model.train_function = model.test_function = model.predict_function = None

    def refused(self, why: str) -> None:
        """Nothing can be recorded: that ends an experiment."""
        if self.hooks.request.get("with"):
            self.hooks.fail(why)

    # In the step.

    def _made(self, original: Callable[..., None], optimizer: Any, *args: Any, **named: Any) -> None:
        original(optimizer, *args, **named)
        self.hooks.bases[optimizer] = base_of(optimizer)

    def _applied(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def own(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            with set_within(self, "_inside", True):
                return original(optimizer, grads, trainable_variables)

        outermost = own
        for site, hook in self.hooks.applied:
            outermost = site.wrap_with_hook(hook, outermost)
        return outermost

    def _clipped(self, original: Callable[..., Any], optimizer: Any, grads: Any) -> Any:
        grads = list(original(optimizer, grads))
        for site, hook in self.hooks.gradients:
            grads = self.hooks.guarded(site, hook, optimizer, grads)
        return grads

    def _rated(self, original: Callable[..., Any], optimizer: Any) -> Any:
        own = original(optimizer)
        if not self._inside or not self.hooks.rates:
            return own
        own = keras.ops.convert_to_tensor(own)
        return self.altered(optimizer, own, keras.ops.cast(optimizer.iterations, "float32"))

    def altered(self, optimizer: Any, own: Any, step: Any) -> Any:
        """The rate that takes the place of the script's own."""
        for site, hook in self.hooks.rates:
            own = self.hooks.guarded(site, hook, optimizer, own, step)
        return own

    # After it.

    def rate(self, optimizer: Any, own: float | None, step: int) -> float | None:
        """As `altered`, of numbers."""
        if own is None or not self.hooks.rates:
            return own
        found = float(keras.ops.convert_to_numpy(self.altered(optimizer, own, step)))
        if abs(found - own) > 1e-6 * abs(own):
            for site, _ in self.hooks.rates:
                site.touched("steps")
        return found

    def stepped(self, backend: KerasBackend) -> None:
        """A step was made; not in a guard of capture."""
        if not self.sites:
            return
        norm = float(np.sqrt(np.sum(np.square(backend.readings[0])))) if backend.readings.size else 0.0
        for site, hook in self.hooks.steps:
            self.hooks.guarded(site, hook, backend.model, norm)
        shared.report_touched(self.sites)

    def end(self) -> None:
        """The script is over: say what each intervention did, and let go."""
        shared.conclude(self.hooks, self.sites)
        self.withdraw()

    def withdraw(self) -> None:
        """Let go of the script."""
        self.hooks.patches.undo()
