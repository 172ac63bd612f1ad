"""The calls that make optimizers of optax: what they say of an optimizer, its rate, and what an experiment changes."""

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp

from traindx.capture.compiled.backend import CompiledBackend
from traindx.capture.compiled.callbacks import HostCallback
from traindx.capture.compiled.steps import Steps
from traindx.capture.jax.experiment import Experiment, Making
from traindx.capture.jax.host_callbacks import send
from traindx.capture.jax.tables import OPTIMIZERS, facts_of_optimizer
from traindx.capture.process.patches import set_within
from traindx.capture.session import Stream

Current = Callable[[], tuple[CompiledBackend, Steps | None]]  # of the training that is recorded
CLIPS = ("clip_by_global_norm", "clip", "clip_by_block_rms")


class Settings:
    """`depth.make`: whether an optimizer is being made. `rate`: before the first step."""

    def __init__(
        self, stream: Stream, experiment: Experiment, depth: SimpleNamespace, current: Current
    ) -> None:
        self._stream, self._experiment, self._depth, self._current = stream, experiment, depth, current
        self.rate: float | None = None
        self._injected: dict[
            str, Any
        ] = {}  # what `inject_hyperparams` was given, while it makes an optimizer

    def wrap(self, optax: Any) -> None:
        around = self._stream.patches.around
        for name in (*OPTIMIZERS, "scale_by_learning_rate"):
            around(optax, name, functools.partial(self._made, name))
        around(optax, "inject_hyperparams", self._inject)
        for name in CLIPS:
            around(optax, name, functools.partial(self._clipping, name))

    def _made(self, name: str, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if self._depth.make:
            return original(*args, **named)
        making = Making(name, original, args, named, self._injected)
        own = making.rate
        with set_within(self._depth, "make", 1):
            self._experiment.changed(making, whole=name in OPTIMIZERS, count=not self._depth.update)
            self._stream.safely(self._describe, making, own)
            self._stream.safely(self._follow_rate, making)
            return making.make()

    def _inject(self, original: Callable[..., Any], factory: Any, *args: Any, **named: Any) -> Any:
        """`inject_hyperparams`: arguments become arrays, and the optimizer is made anew in each step."""

        def injected(*given: Any, **others: Any) -> Any:
            bound = inspect.signature(factory).bind_partial(*given, **others).arguments

            @functools.wraps(factory)
            def make(*arrays: Any, **more: Any) -> Any:
                with set_within(self, "_injected", bound):
                    return factory(*arrays, **more)

            return original(make, *args, **named)(*given, **others)

        return functools.wraps(factory)(injected)

    def _describe(self, making: Making, own: Any) -> None:
        """Facts of an optimizer; its rate is the script's own."""
        known = self._current()[0].optimizer
        found = facts_of_optimizer(making.name, making.known()) if making.name in OPTIMIZERS else known
        if isinstance(own, float | int):
            found["lr"] = float(own)
        elif callable(own):
            found["schedule"] = str(getattr(own, "__qualname__", "function")).split(".")[0]
        self._current()[0].optimizer = found

    def _follow_rate(self, making: Making) -> None:
        """The rate that is used, which a schedule sends as it computes it."""
        rate = making.value("learning_rate")
        if isinstance(rate, float | int):
            self.rate = float(rate)
        elif callable(rate):
            making.given["learning_rate"] = self._reporting(rate)
        elif rate is not None and self._depth.update:
            self.report_rate(rate)

    def _reporting(self, schedule: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A schedule that sends the host its rates as they are computed."""

        @functools.wraps(schedule)
        def scheduled(count: Any) -> Any:
            rate = schedule(count)
            if jnp.ndim(rate) == 0:
                self._stream.safely(self.report_rate, rate)
            return rate

        return scheduled

    def report_rate(self, rate: Any) -> None:
        send(HostCallback(self._stream, self._on_rate), rate)

    def _on_rate(self, rate: Any) -> None:
        steps = self._current()[1]
        if steps is not None:
            steps.add_rate(float(rate))
        else:
            self.rate = float(rate)

    def seeded(self, original: Callable[..., Any], seed: Any, *args: Any, **named: Any) -> Any:
        """`jax.random.key` is called."""
        if isinstance(seed, int) and "seed" not in self._stream.known:
            self._stream.fact("seed", seed)
        return original(seed, *args, **named)

    def _clipping(self, name: str, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        (limit,) = (*args, *named.values())
        if self._depth.make:
            return original(limit)
        if isinstance(limit, float | int) and name == "clip_by_global_norm":
            self._stream.safely(self._stream.fact, "clip_norm", float(limit))
        return self._experiment.clipping(original, limit)
