"""What optimizers of optax are made with: facts, and the rates of schedules as they are computed."""

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp

from traindx.capture.compiled.backend import CompiledBackend
from traindx.capture.compiled.callbacks import HostCallback
from traindx.capture.compiled.steps import Steps
from traindx.capture.jax.send import send
from traindx.capture.jax.tables import facts_of_optimizer
from traindx.capture.process.patches import set_within
from traindx.capture.session import Stream

Current = Callable[[], tuple[CompiledBackend, Steps | None]]  # of the training that is recorded


class Settings:
    """`depth.make`: how many optimizers are being made within each other. `rate`: before the first step."""

    def __init__(self, stream: Stream, depth: SimpleNamespace, current: Current) -> None:
        self._stream, self._depth, self._current = stream, depth, current
        self.rate: float | None = None

    def made(self, name: str, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """An optimizer is made."""
        signature = inspect.signature(original)
        given = self._settings, name, signature, args, named
        bound = None if self._depth.make else self._stream.safely(*given)
        with set_within(self._depth, "make", self._depth.make + 1):
            return original(*args, **named) if bound is None else original(*bound.args, **bound.kwargs)

    def clipping(self, original: Callable[..., Any], max_norm: Any) -> Any:
        if isinstance(max_norm, float | int):
            self._stream.safely(self._stream.fact, "clip_norm", float(max_norm))
        return original(max_norm)

    def report_rate(self, rate: Any) -> None:
        send(HostCallback(self._stream, self._on_rate), rate)

    def _settings(
        self, name: str, signature: inspect.Signature, args: Any, named: Any
    ) -> inspect.BoundArguments | None:
        """Facts of an optimizer; the arguments to make it with where its schedule is to send its rates."""
        bound = signature.bind_partial(*args, **named)
        asked = signature.bind_partial(*args, **named)
        bound.apply_defaults()
        given = bound.arguments
        found = facts_of_optimizer(name, given)
        rate = given.get("learning_rate")
        if isinstance(rate, float | int):
            found["lr"] = self.rate = float(rate)
        elif callable(rate):
            found["schedule"] = str(getattr(rate, "__qualname__", "function")).split(".")[0]
            asked.arguments["learning_rate"] = self._reporting(rate)
        self._current()[0].optimizer = found
        return asked

    def _reporting(self, schedule: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A schedule that sends the host its rates as they are computed."""

        @functools.wraps(schedule)
        def scheduled(count: Any) -> Any:
            rate = schedule(count)
            if jnp.ndim(rate) == 0:
                self._stream.safely(self.report_rate, rate)
            return rate

        return scheduled

    def _on_rate(self, rate: Any) -> None:
        steps = self._current()[1]
        if steps is not None:
            steps.add_rate(float(rate))
        else:
            self.rate = float(rate)
