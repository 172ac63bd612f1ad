"""optax in a script that `traindx run` started.

`jax.value_and_grad` and `jax.grad` report the loss and the batch, an optimizer's `update` the gradients,
updates and weights by leaf, activations and losses of `jax.nn` and optax their arguments and results: each
computes what it did, and also calls the host. Nothing is put into states or parameters. Where no optimizer of optax
or Keras is made, the script updates its parameters itself, and each gradient that is taken counts as a step."""

import functools
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import pxla

from traindx.capture.arrays.windows import sizes
from traindx.capture.compiled.backend import CompiledBackend
from traindx.capture.compiled.callbacks import HostCallback, count_step
from traindx.capture.compiled.leaves import Leaf
from traindx.capture.compiled.steps import Steps
from traindx.capture.jax.accumulation import Accumulation
from traindx.capture.jax.experiment import Experiment
from traindx.capture.jax.host_callbacks import send, wait_until_done, without_tokens
from traindx.capture.jax.host_weights import Near
from traindx.capture.jax.loops import Loops
from traindx.capture.jax.modes import Modes
from traindx.capture.jax.readings import available_weights, is_traced, send_step, weight_readings
from traindx.capture.jax.settings import Settings
from traindx.capture.jax.stateless import leaves_trained, rate_of, settings_of
from traindx.capture.jax.tables import KINDS, LOSSES, NAMES, facts_of_loss
from traindx.capture.jax.trees import batch_in, closure_arrays, float_arrays, leaves_of
from traindx.capture.process.patches import is_imported, set_within
from traindx.capture.session import FEW_STEPS, RecordedProcess

# The module of the optimizers that loops without optax step with.
KERAS = "keras.src.optimizers.base_optimizer"
MOST_RECORDS, MOST_ACTIVATIONS = 32, 64  # of one script; calls in one computation that are distinguished


class Launched:
    """What is wrapped. Where an optimizer of optax or Keras is made, nothing is reported before it is called."""

    def __init__(self, process: RecordedProcess) -> None:
        self._process, self._backend = process, CompiledBackend("jax")
        self._stream = process.stream(lambda: self._backend)
        self._steps: Steps | None = None
        self._start: list[float] = []  # sizes of the parameters that its optimizer's state was made for
        self._before = 0  # steps of trainings that have their own records
        self._alone, self._given = True, False  # no optimizer was made; weights are sent with the step
        self._differentiated: list[Any] = []  # the weights that a gradient was last taken by
        self._depth = SimpleNamespace(grad=0, update=0, init=0, make=0, loss=0)  # calls within each other
        self._experiment = Experiment(process.request, self._stream, alone=not process.experiments)
        process.experiments[self._stream] = self._experiment.withdraw
        self._settings = Settings(self._stream, self._experiment, self._depth, self._current)
        self._accumulation, self._reported = Accumulation(), False  # by an optimizer within another
        self._calls: dict[str, int] = {}
        self._used: set[str] = set()
        self._last: tuple[str, Any] = ("", None)  # the activation that was called last, and what it gave
        process.ends += [self.end, self._experiment.end]
        Loops(self._stream, self._depth, lambda: (self._steps, self._near) if self._steps else None)
        Modes(self._stream, process.watch.wanted, self._depth, lambda: self._steps is not None)
        around = self._stream.patches.around
        around(pxla.ExecuteReplicated, "__init__", without_tokens)
        around(jax, "value_and_grad", self._value_and_grad)
        around(jax, "grad", self._grad)
        for name in ("key", "PRNGKey"):
            around(jax.random, name, self._settings.seeded)
        for home in (jax.nn, jnp):
            for name in KINDS:
                around(home, name, functools.partial(self._activation, name))
        for name, hook in (("optax", self._optax), (KERAS, self._keras)):
            if is_imported(name):
                hook(sys.modules[name])
            else:
                process.watch.wanted[name] = functools.partial(self._stream.safely, hook)

    def _current(self) -> tuple[CompiledBackend, Steps | None]:
        """Of the training that is recorded."""
        return self._backend, self._steps

    def end(self) -> None:
        if self._steps is not None:
            wait_until_done()
            self._steps.finish_steps()
        self._stream.detach()

    def _created(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """An optimizer is made. Its library may be imported without one: Flax imports optax."""
        self._alone = False
        return original(*args, **named)

    def _nested_call(self, kind: str) -> AbstractContextManager[None]:
        return set_within(self._depth, kind, getattr(self._depth, kind) + 1)

    def _report(self, method: str, *values: Any, about: tuple[Any, ...] = ()) -> None:
        """Have the host call this method of `Steps` with the values, each time that they are computed."""
        send(HostCallback(self._stream, self._call_steps, (method, *about)), *values)

    def _call_steps(self, method: str, *given: Any) -> None:
        if self._steps is not None:
            getattr(self._steps, method)(*given)

    # Losses.

    def _value_and_grad(
        self,
        original: Callable[..., Any],
        fun: Any,
        argnums: Any = 0,
        has_aux: bool = False,
        *args: Any,
        **named: Any,
    ) -> Any:
        inner = original(fun, argnums, has_aux, *args, **named)
        return self._wrapped(fun, inner, argnums, lambda found: found[0][0] if has_aux else found[0])

    def _grad(
        self,
        original: Callable[..., Any],
        fun: Any,
        argnums: Any = 0,
        has_aux: bool = False,
        *args: Any,
        **named: Any,
    ) -> Any:
        """As JAX makes it: of `value_and_grad`, whose value is left out."""
        if not self._stream.active:
            return original(fun, argnums, has_aux, *args, **named)
        inner = jax.value_and_grad(fun, argnums, has_aux, *args, **named)

        @functools.wraps(inner)
        def gradient(*given: Any, **others: Any) -> Any:
            value, found = inner(*given, **others)
            return (found, value[1]) if has_aux else found

        return gradient

    def _from_state(self, original: Callable[..., Any], fun: Any) -> Any:
        """What a line search has left in the optimizer's state is not computed again."""
        own = original(fun)

        def inner(*args: Any, **named: Any) -> Any:
            with self._nested_call("update"):  # what it computes, it computes at the first step only
                return own(*args, **named)

        return self._wrapped(fun, inner, 0, lambda found: found[0])

    def _wrapped(
        self, fun: Any, inner: Callable[..., Any], argnums: Any, loss: Callable[[Any], Any]
    ) -> Callable[..., Any]:
        @functools.wraps(inner)
        def differentiated(*args: Any, **named: Any) -> Any:
            if not self._stream.active or self._depth.grad or self._depth.update:  # within: a line search
                return inner(*args, **named)
            self._calls = {}
            with self._nested_call("grad"):
                found = inner(*args, **named)
            if self._alone and self._steps is None:  # before the loss comes, if nothing is compiled
                self._stream.safely(self._open, leaves_of(found[1]))
            self._stream.safely(self._loss, loss(found), args, named, argnums, fun)
            if self._alone:
                self._stream.safely(self._updated, found[1])
            return found

        return differentiated

    def _loss(self, value: Any, args: Any, named: Any, argnums: Any, fun: Any) -> None:
        trained = {argnums} if isinstance(argnums, int) else set(argnums)
        self._differentiated = jax.tree.leaves(
            [args[place] for place in sorted(trained) if place < len(args)]
        )
        rest = [arg for place, arg in enumerate(args) if place not in trained]
        batch = batch_in([rest, [value for name, value in named.items() if name != "state"]])
        self._report("add_loss", value, *(batch or batch_in(closure_arrays(fun))))

    # Activations, and what losses are fed with.

    def _activation(self, name: str, original: Callable[..., Any], x: Any, *args: Any, **named: Any) -> Any:
        found = original(x, *args, **named)
        inside = self._depth.grad and not self._depth.update
        if inside and self._stream.active and jnp.ndim(found):
            self._stream.safely(self._applied, name, found)
        return found

    def _applied(self, name: str, found: Any) -> None:
        count = self._calls[name] = self._calls.get(name, 0) + 1
        if count <= MOST_ACTIVATIONS:
            own = f"{name}#{count}" if count > 1 else name
            self._used.add(NAMES.get(name, name))
            self._stream.fact("activations", ", ".join(sorted(self._used)))
            self._last = name, found
            self._report("add_activation", found, about=(own, KINDS[name]))

    def _loss_function(self, name: str, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        with self._nested_call("loss"):
            found = original(*args, **named)
        inside = self._depth.loss or self._depth.update
        bound = inspect.signature(original).bind(*args, **named).arguments
        given = args if len(args) > 1 else (*bound.values(),)
        if self._stream.active and len(given) > 1 and given[1] is not None and not inside:
            self._stream.safely(self._fed, name, given[0], given[1], found)
        return found

    def _fed(self, name: str, outputs: Any, targets: Any, found: Any) -> None:
        training = self._depth.grad > 0
        outputs, targets = jnp.asarray(outputs), jnp.asarray(targets)
        if name == "softmax_cross_entropy" and targets.ndim == outputs.ndim:
            targets = targets.argmax(-1)
        if training:
            facts = facts_of_loss(name, outputs, targets)
            if outputs is self._last[1]:
                facts["outputs_last_activation"] = self._last[0]
            self._last = "", None
            for fact, value in facts.items():
                self._stream.fact(fact, value)
        self._report("add_answer", outputs, targets, found, about=(LOSSES[name], training))

    # Steps.

    def _optax(self, optax: Any) -> None:
        patches, kind = self._stream.patches, optax.GradientTransformation
        patches.around(kind, "__new__", self._created)
        getter = kind.__dict__["update"]
        wrapped: dict[Any, Callable[..., Any]] = {}

        def update(transformation: Any) -> Any:
            own = getter.__get__(transformation, type(transformation))
            if not self._stream.active or self._depth.update or self._depth.make:
                return own
            return wrapped.get(own) or wrapped.setdefault(own, self._update(own))

        def init(transformation: Any) -> Any:
            return functools.partial(self._init, field.__get__(transformation, type(transformation)))

        field = kind.__dict__["init"]
        kind.update, kind.init = property(update), property(init)
        self._stream.ends.append(lambda: setattr(kind, "update", getter))
        self._stream.ends.append(lambda: setattr(kind, "init", field))
        for name in LOSSES:
            for home in (optax, getattr(optax, "losses", None)):
                patches.around(home, name, functools.partial(self._loss_function, name))
        self._settings.wrap(optax)
        patches.around(optax, "apply_updates", self._apply)
        patches.around(optax, "value_and_grad_from_state", self._from_state)
        patches.around(optax, "apply_every", self._accumulation.made)
        patches.around(optax.MultiSteps, "update", self._multi_steps)

    def _init(self, own: Callable[..., Any], params: Any, *args: Any, **named: Any) -> Any:
        """The state of an optimizer is made, mostly at the start of a training."""
        held = [] if self._depth.update or self._depth.init else float_arrays(params)
        former = self._backend.trained
        if held and self._stream.safely(self._is_separate_training, held, [leaf.shape for leaf in former]):
            self._start_new_record()
            if [np.shape(value) for value in held] == [leaf.shape for leaf in former]:
                self._stream.safely(self._open, former)  # what is compiled may be called as it is
        with self._nested_call("init"):
            return own(params, *args, **named)

    def _is_separate_training(self, held: list[Any], shapes: list[Any]) -> bool:
        """Whether a training begins after the one that is recorded: of other parameters, of the first values again, or
        of others. A new state for parameters that go on is none, nor is one of several before the first step."""
        if any(is_traced(value) for value in held):
            return False
        arrays = [np.asarray(value) for value in held]  # norms by JAX would be compiled for each shape
        real = [np.abs(value) if np.iscomplexobj(value) else value for value in arrays]
        before, start = self._start, sizes([value.astype(np.float32) for value in real]).tolist()
        session = self._stream.opened
        if session is None or self._steps is None:
            self._start = start
            return False
        wait_until_done()
        same = [np.shape(value) for value in held] == shapes
        on = same and start != before and self._near.continued_by(arrays)
        if same and not on:
            self._near.ended()
        return not on and session.step >= FEW_STEPS and self._process.records < MOST_RECORDS

    def _start_new_record(self) -> None:
        """The next training gets its own record."""
        if self._steps is not None and self._stream.opened is not None:
            self._steps.finish_steps()
            self._before += self._stream.opened.step
        optimizer, self._backend = self._backend.optimizer, CompiledBackend("jax")
        self._steps, self._start, self._backend.optimizer, self._used = None, [], optimizer, set()
        self._process.begin_anew()
        self._stream.anew()

    def _update(self, own: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(own)
        def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> Any:
            self._reported = False
            self._experiment.updates(params)
            with self._nested_call("update"):
                found = own(updates, state, params, **extra)
            if not self._reported:
                self._stream.safely(self._updated, updates, found[0], params, state)
            self._reported = self._depth.update > 0
            return found

        return update

    def _multi_steps(
        self, original: Callable[..., Any], multi: Any, updates: Any, state: Any, *args: Any, **named: Any
    ) -> Any:
        """The optimizer within it reports the steps, and which of them are ones."""
        emits = self._stream.safely(self._accumulation.of_multi_steps, multi, state)
        with set_within(self._depth, "update", 0), set_within(self._accumulation, "emits", emits):
            found = original(multi, updates, state, *args, **named)
        self._reported = self._depth.update > 0
        return found

    def _updated(self, gradients: Any, updates: Any = None, params: Any = None, state: Any = ()) -> None:
        """By an optimizer of optax; without `updates`, by the script, which does not show them."""
        held = jax.tree.leaves(gradients)
        made = jax.tree.leaves(updates) if updates is not None else [jnp.full((), jnp.nan) for _ in held]
        weights = jax.tree.leaves(params) if params is not None else []
        self._stepped(leaves_of(gradients), held, made, weights, self._accumulation.at(state))

    def _keras(self, module: Any) -> None:
        self._stream.patches.around(module.BaseOptimizer, "__init__", self._created)
        self._stream.patches.around(module.BaseOptimizer, "stateless_apply", self._stateless)

    def _stateless(
        self,
        original: Callable[..., Any],
        optimizer: Any,
        optimizer_variables: Any,
        grads: Any,
        trainable_variables: Any,
    ) -> Any:
        """An optimizer of Keras in a loop of the script's own. Those of `fit` come after this stream was detached."""
        found = original(optimizer, optimizer_variables, grads, trainable_variables)
        given = optimizer_variables, list(grads), list(trainable_variables)
        self._stream.safely(self._applied_statelessly, optimizer, *given, found[0])
        return found

    def _applied_statelessly(self, optimizer: Any, held: Any, grads: Any, before: Any, after: Any) -> None:
        if self._steps is None:
            self._backend.optimizer, self._settings.rate = settings_of(optimizer)
        if (rate := rate_of(optimizer, held)) is not None:
            self._settings.report_rate(rate)
        updates = [new - old for new, old in zip(after, before, strict=True)]
        self._stepped(leaves_trained(optimizer, before), grads, updates, before)

    def _stepped(
        self, leaves: list[Leaf], gradients: Any, updates: Any, weights: Any, emits: Any = None
    ) -> None:
        if self._steps is None and not self._open(leaves):
            return
        if [leaf.name for leaf in leaves] != [leaf.name for leaf in self._backend.trained]:
            return  # another optimizer's: the first one counts the steps
        if gradients:
            self._stream.fact("parameter_dtype", str(gradients[0].dtype))
        known, self._differentiated = self._differentiated, []
        weights = weights if len(weights) == len(leaves) else available_weights(known, gradients)
        self._given = bool(weights)
        here = HostCallback(self._stream, self._on_arrays)
        elsewhere = HostCallback(self._stream, self._call_steps, ("add_step",))
        send_step(here, elsewhere, gradients, updates, weights, emits)

    def _open(self, leaves: list[Any]) -> bool:
        """The session, at the first step; False where another framework's is recorded."""
        if not leaves or not self._process.claim_process(self._stream):
            return False
        session = self._stream.session()
        if session is None:
            return False
        self._backend.trained = leaves
        self._experiment.begins()
        session.fact("device", jax.default_backend())
        session.add_model(leaves)
        session.add_optimizer(self._backend)
        self._steps = Steps(session, self._backend, self._counted)
        self._near = Near(self._steps, self._backend)
        if self._settings.rate is not None:
            self._steps.add_rate(self._settings.rate)
        return True

    def _counted(self, step: int) -> None:
        self._experiment.stepped(self._backend)
        count_step(self._stream, self._before + step)

    def _on_arrays(self, place: int, *values: Any) -> None:
        if self._steps is not None:
            self._near.receive(place, *values)

    def _apply(self, original: Callable[..., Any], params: Any, updates: Any) -> Any:
        if self._steps is not None and not self._depth.update and not self._given:
            self._stream.safely(self._weights, params)
        return original(params, updates)

    def _weights(self, params: Any) -> None:
        weights = jax.tree.leaves(params)
        if len(weights) == len(self._backend.trained):
            self._report("add_weights", weight_readings(weights))
