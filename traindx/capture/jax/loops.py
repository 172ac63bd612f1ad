"""Loops of many steps that JAX makes within one computation (`lax.scan`, `lax.fori_loop`).

A call of the host takes longer than a small step. So such a loop counts its steps, and calls the host at those that
the host asked for: all at first, then as many as a fifth of the time allows, and the last one. What is computed
at a step is the same at every step, so the training is, too."""

import functools
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.compiled.callbacks import HostCallback
from traindx.capture.compiled.steps import Steps
from traindx.capture.jax.host_callbacks import GATE, SPENT, ask
from traindx.capture.jax.host_weights import Near
from traindx.capture.jax.trees import is_differentiated
from traindx.capture.process.patches import set_within
from traindx.capture.session import Stream

MANY = 1000  # steps of a loop for which this is worth it
ALL = 500  # first steps of a training that are reported, whatever they take
SHARE = 0.2  # of the loop's time that the host may take
LEAST = 200  # steps of a loop that are reported
# Raised while a body is traced, in most cases by the script's own.
UNTRACED = (AttributeError, NotImplementedError, TypeError, ValueError)
Current = Callable[[], tuple[Steps, Near] | None]  # of the training that is recorded


class Loops:
    """`depth`: calls within each other. Loops within a gradient or an optimizer are no trainings."""

    def __init__(self, stream: Stream, depth: SimpleNamespace, current: Current) -> None:
        self._stream, self._depth, self._current = stream, depth, current
        self._stride, self._at, self._asked, self._spent = 1, -1, 0.0, 0.0
        # What JAX has compiled, it knows by the function itself.
        self._body = functools.lru_cache(64)(self._counting)
        stream.patches.around(jax.lax, "scan", self._scan)
        stream.patches.around(jax.lax, "fori_loop", self._fori_loop)

    def _scan(
        self, original: Any, f: Any, init: Any, xs: Any = None, length: Any = None, *args: Any, **named: Any
    ) -> Any:
        given = [length] if length is not None else [len(leaf) for leaf in jax.tree.leaves(xs)[:1]]
        if not self._trains(f, *given):
            found = original(f, init, xs, length, *args, **named)
            if self._depth.grad and not self._depth.loss and xs is not None and self._stream.active:
                self._stream.safely(self._note_recurrence, init, found[0])
            return found

        def counted() -> Any:
            (found, *_), ys = original(self._body(f, given[0]), (init, *zeros()), xs, length, *args, **named)
            return found, ys

        return self._either(counted, lambda: original(f, init, xs, length, *args, **named))

    def _fori_loop(
        self, original: Any, lower: Any, upper: Any, body_fun: Any, init_val: Any, **named: Any
    ) -> Any:
        whole = isinstance(lower, int) and isinstance(upper, int)
        if not whole or not self._trains(body_fun, upper - lower):
            return original(lower, upper, body_fun, init_val, **named)

        def counted() -> Any:
            body = self._body(body_fun, upper - lower, lower)
            return original(lower, upper, body, (init_val, *zeros()), **named)[0]

        return self._either(counted, lambda: original(lower, upper, body_fun, init_val, **named))

    def _either(self, counted: Callable[[], Any], plain: Callable[[], Any]) -> Any:
        """The loop with its counters, or as the script wrote it where the counters cannot be traced, which is said
        once. What fails both ways is the script's own error."""
        try:
            return counted()
        except UNTRACED as error:
            found = plain()
            self._stream.left_out("thin recording of a loop", error)
            return found

    def _note_recurrence(self, first: Any, last: Any) -> None:
        """A state that began without the weights and ends with them: the same weights were applied at every step. A
        stack of layers in a `scan` carries what the weights have already made, and discounted returns have none."""
        pairs = zip(jax.tree.leaves(first), jax.tree.leaves(last), strict=True)
        if any(np.ndim(new) and is_differentiated(new) and not is_differentiated(old) for old, new in pairs):
            self._stream.fact("modules", "recurrent")

    def _trains(self, function: Any, *count: Any) -> bool:
        """Whether this may be a loop of that many steps of training."""
        depth, known = self._depth, isinstance(function, Callable) and function.__hash__ is not None  # type: ignore[arg-type]
        inside = depth.grad or depth.update or depth.init or depth.make
        return bool(self._stream.active and known and not inside and count and count[0] >= MANY)

    def _counting(self, function: Any, count: int, first: int | None = None) -> Callable[..., Any]:
        """The body of a loop, with the next step to be reported and its own number in what it carries. `first`: the
        number of the first step, of a body that is given it."""

        @functools.wraps(function)
        def body(one: Any, other: Any) -> Any:
            carried, x = (other, one) if first is not None else (one, other)
            value, due, at = carried
            now = (at >= due) | (at == count - 1)
            with set_within(GATE, "due", now), set_within(GATE, "mark", None):
                found = function(x, value) if first is not None else function(value, x)
                if GATE.mark is not None:  # this step has reported itself
                    due = ask(HostCallback(self._stream, self._next, (count,)), at, due, GATE.mark, now)
            if first is not None:
                return found, due, at + 1
            value, y = found
            return (value, due, at + 1), y

        return body

    def _next(self, count: int, at: Any) -> Any:
        """The number of the next step to be reported, after step `at` of `count`."""
        at, now, current = int(at), time.perf_counter(), self._current()
        if current is None:
            return at + count
        steps, near = current
        before = self._at if at > self._at else -1
        if before >= 0:
            share = (SPENT.seconds - self._spent) / max(now - self._asked, 1e-9)
            self._stride = min(
                self._stride * 2 if share > SHARE else max(1, self._stride // (1 + (share < SHARE / 4))),
                max(1, count // LEAST),
            )
        steps.covers(at - before)
        self._at, self._asked, self._spent = at, now, SPENT.seconds
        steps.session.clock.untimed = self._stride > 1
        every = near.compares or steps.session.step < ALL
        return at + (1 if every else self._stride)


def zeros() -> tuple[Any, Any]:
    return np.int32(0), jnp.int32(0)
