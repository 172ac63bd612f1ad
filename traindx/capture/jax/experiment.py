"""In the script's process: applies interventions to optax, and ends the script when one of them fails.

An optimizer of optax is two pure functions, which show nothing of their settings once they are made. So the call that
makes it (`optax.adam(1e-3)`) is changed: other arguments, another function, or something chained before it. The source
edits of `traindx fix` write the same call. Nothing is added to the step, which may be compiled, and states are those
of the optimizer that is made."""

import inspect
import math
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.compiled.backend import CompiledBackend
from traindx.capture.experiment import site as shared
from traindx.capture.experiment.applies import apply_all, requested_interventions
from traindx.capture.experiment.ending import Guard, Hook
from traindx.capture.session import Stream

INTERVENTIONS = "traindx.capture.jax.interventions"  # imported by name: they are built on what is here
LONGEST = 100_000  # steps of a schedule among which its highest rate is searched


class Making:
    """The call that makes an optimizer: its name in optax, the arguments that it was given, and what the optimizer is
    wrapped in. `injected`: what `inject_hyperparams` was given, and hands in as arrays."""

    def __init__(
        self, name: str, original: Callable[..., Any], args: Any, named: Any, injected: dict[str, Any]
    ) -> None:
        self.name, self.original, self.injected = name, original, injected
        self.given: dict[str, Any] = dict(inspect.signature(original).bind_partial(*args, **named).arguments)
        self.wrappers: list[Callable[[Any, Any], Any]] = []  # of optax, and of what is made so far

    def takes(self, argument: str) -> bool:
        return argument in inspect.signature(self.original).parameters

    def value(self, argument: str) -> Any:
        """What an argument is, given or by default; None where there is no such argument."""
        known = inspect.signature(self.original).parameters.get(argument)
        default = None if known is None or known.default is inspect.Parameter.empty else known.default
        return self.given.get(argument, default)

    def known(self) -> dict[str, Any]:
        """All arguments, as the script gave them."""
        return {
            name: self.value(name) for name in inspect.signature(self.original).parameters
        } | self.injected

    @property
    def rate(self) -> Any:
        """The rate that the script gave, a number or a schedule."""
        return self.injected.get("learning_rate", self.value("learning_rate"))

    def become(self, name: str) -> None:
        """Make another optimizer with the arguments that both have."""
        self.name, self.original = name, getattr(sys.modules["optax"], name)
        self.given = {key: value for key, value in self.given.items() if self.takes(key)}

    def make(self) -> Any:
        found = self.original(**self.given)
        for wrapper in self.wrappers:
            found = wrapper(sys.modules["optax"], found)
        return found


class Hooks(Guard):
    """All hooks by place, each with the site that it is of."""

    def __init__(self, request: dict[str, Any], stream: Stream, alone: bool) -> None:
        super().__init__(request, stream)
        self.alone = alone  # no other framework's experiment was begun before
        self.optimizers: list[tuple[Any, Hook]] = []
        self.rates: list[tuple[Any, Hook]] = []
        self.limits: list[tuple[Any, Hook]] = []
        self.steps: list[tuple[Any, Hook]] = []
        self.decayed: list[Site] = []  # by which a step needs the parameters, which scripts may leave out


class Site(shared.Site):
    """One intervention, and the places to hook into."""

    hooks: Hooks

    def on_optimizer(self, hook: Callable[[Making], bool]) -> None:
        """`hook(making)` changes how an optimizer is made, and says whether it did."""
        self.hooks.optimizers.append((self, hook))

    def on_rate(self, hook: Callable[[Any, Any], Any]) -> None:
        """`hook(rate, own)` returns another rate, or schedule of rates, for one that an optimizer is made with. `own` is
        what the script gave."""
        self.hooks.rates.append((self, hook))

    def on_limit(self, hook: Callable[[float], float]) -> None:
        """`hook(limit)` returns another limit for the script's own clipping; infinity for none."""
        self.hooks.limits.append((self, hook))

    def on_step(self, hook: Callable[[float], None]) -> None:
        """`hook(norm)` on the host after each step: `norm` of all gradients, as they were measured."""
        self.hooks.steps.append((self, hook))


class Experiment:
    """All interventions of a run, in their order."""

    def __init__(self, request: dict[str, Any], stream: Stream, *, alone: bool) -> None:
        given, self._unknown = requested_interventions(INTERVENTIONS, request.get("with") or ())
        self.hooks, self._stream = Hooks(request, stream, alone), stream
        self.sites = [Site(self.hooks, one.spec) for one in given]
        self._made = self._rated = False
        apply_all(self.sites, given, INTERVENTIONS)

    def changed(self, making: Making, *, whole: bool, count: bool) -> None:
        """An optimizer is made, or (not `whole`) only the part of it that multiplies by the rate. `count`: not as
        one of many times for the same optimizer."""
        self._made = self._made or whole
        for site, hook in self.hooks.optimizers if whole else ():
            if self.hooks.guarded(site, hook, making) and count:
                site.touched("optimizers")
        own = making.value("learning_rate")
        self._rated = self._rated or own is not None
        for site, hook in self.hooks.rates if own is not None else ():
            before = making.given["learning_rate"] = making.value("learning_rate")
            making.given["learning_rate"] = self.hooks.guarded(site, hook, before, making.rate)
            if making.given["learning_rate"] is not before and count:
                site.touched("optimizers")

    def clipping(self, original: Callable[..., Any], limit: Any) -> Any:
        """The script clips gradients."""
        for site, hook in self.hooks.limits:
            limit = self.hooks.guarded(site, hook, limit)
        off = isinstance(limit, float) and math.isinf(limit)
        return sys.modules["optax"].identity() if off else original(limit)

    def begins(self) -> None:
        """A training begins: refuse what is unknown in JAX, and what no optimizer was there for."""
        if self._unknown:
            self.hooks.fail(self._unknown)
        for hooks, seen in ((self.hooks.optimizers, self._made), (self.hooks.rates, self._rated)):
            for site, _ in hooks if not seen else ():
                self.hooks.guarded(site, site.refuse, "no optimizer of optax was made before the first step")

    def updates(self, params: Any) -> None:
        """An optimizer's `update` is called."""
        for site in self.hooks.decayed if params is None else ():
            self.hooks.guarded(site, site.refuse, "the script calls `update` without the parameters")

    def stepped(self, backend: CompiledBackend) -> None:
        """A step was made; on the host."""
        norm = float(np.sqrt(np.sum(np.square(backend.readings[0])))) if backend.readings.size else 0.0
        for _, hook in self.hooks.steps:
            hook(norm)
        shared.report_touched(self.sites)

    def end(self) -> None:
        """The script is over: say what each intervention did, and let go."""
        shared.conclude(self.hooks, self.sites)
        self.withdraw()

    def withdraw(self) -> None:
        """Let go of the script."""
        self.hooks.patches.undo()
        self.sites = []
        self.hooks.optimizers, self.hooks.rates, self.hooks.limits, self.hooks.steps = [], [], [], []


def base_of(rate: Any) -> float:
    """The highest rate of what an optimizer is made with; 0 where it is not known."""
    if callable(rate):
        return float(jnp.max(jax.vmap(rate)(jnp.arange(LONGEST))))
    return float(rate) if isinstance(rate, float | int) else 0.0
