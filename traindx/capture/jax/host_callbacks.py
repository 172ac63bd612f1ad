"""Values of a computation that may be compiled, sent to Python as it runs.

One primitive without a result that counts: transformations that differentiate pass it by, `vmap` hands it the whole batch
at once, and what is compiled calls the host. Nothing that is computed depends on it. Where all is computed
by the processor, on one device, the host is called with plain arrays, in the memory where they were
computed: `jax.debug.callback` makes JAX's own of them first, which takes fifteen times as long.

How JAX starts such a computation is changed, too. One with effects goes through Python each time that it is
called, which takes up to two milliseconds on a busy machine, as tokens are handed on from one to the next:
calls of `jax.debug.print` can be waited for. What is sent here needs none, as long as the host's part is
over with the computation."""

import functools
import inspect
import math
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core
from jax._src.debugging import DebugEffect
from jax._src.sharding_impls import ShardingContext
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

READ = 1 << 14  # values of an array that leave it, whole samples
MARK = np.zeros((), np.float32)
AROUND = 2e-5  # seconds that a call of the host takes in addition to its own work
Receive = Callable[..., Any]
# Within a loop that is being traced: whether the host is called at the step at hand, and what the step's own call gave.
GATE = SimpleNamespace(due=None, mark=None)
SPENT = SimpleNamespace(seconds=0.0)  # in calls of the host, so far


class Way(NamedTuple):
    """How values reach the host: each of the groups that `make(values, about)` gives is passed to `receive`
    in a separate call, the first before the others. `placed`: with its place among them."""

    make: Callable[[Sequence[Any], Any], Sequence[Sequence[Any]]]
    receive: Receive
    placed: bool = False


class Sending(DebugEffect):  # type: ignore[misc]
    """The effect that keeps a computation that sends something from being dropped."""

    __str__ = lambda self: "Sending"  # noqa: E731


SENDING = Sending()
send_p = Primitive("traindx_send")
send_p.multiple_results = True
host_p = Primitive("traindx_host")  # what is left of it once it is compiled
host_p.multiple_results = True
ask_p = Primitive("traindx_ask")


def send(receive: Receive, *values: Any) -> None:
    """Call `receive` with these arrays (of large ones the first samples) each time that this is computed."""
    send_by(Way(parts, receive), Way(parts, receive), None, *values)


def send_by(near: Way, far: Way, about: Any, *values: Any) -> None:
    """Send these arrays by one way where they are in the host's memory, by another, of one group, where they
    are not. `about` is handed to what makes the groups."""
    plain = [jax.lax.stop_gradient(jnp.asarray(value)) for value in values]
    gated = GATE.due is not None and is_traced_here(GATE.due)
    if gated:
        plain.append(GATE.due)
    (mark,) = send_p.bind(*plain, near=near, far=far, about=about, gated=gated)
    if gated and near.placed:
        GATE.mark = mark


def is_traced_here(value: Any) -> bool:
    """Whether what is being traced is the computation of this value itself, at most differentiated or batched: what
    is compiled within it may be used elsewhere, too."""
    trace = core.trace_ctx.trace
    while trace is not value._trace and not hasattr(trace, "frame"):
        trace = getattr(trace, "parent_trace", None)
    return trace is value._trace


def ask(receive: Receive, at: Any, due: Any, mark: Any, now: Any) -> Any:
    """The step of a loop to be reported next: what `receive(at)` gives where `now`, after the call that gave `mark`,
    otherwise `due` as before; the next one where the host is not called directly."""
    return ask_p.bind(at, due, mark, now, receive=receive)


def parts(values: Sequence[Any], about: None) -> list[list[Any]]:
    """The first samples of each array."""
    return [[part(value) for value in values]]


def part(values: Any) -> Any:
    """The first samples of an array."""
    if values.ndim == 0 or values.size <= READ:
        return values
    return values[: max(1, READ * values.shape[0] // math.prod(values.shape))]


def _receiver(way: Way, place: int) -> Receive:
    return functools.partial(way.receive, place) if way.placed else way.receive


def _send_eagerly(*values: Any, near: Way, far: Way, about: Any, gated: bool) -> list[Any]:
    """Outside of what is compiled."""
    values = values[:-1] if gated else values
    devices = set().union(*(value.devices() for value in values))
    if len(devices) == 1 and devices.pop().platform == "cpu":
        for place, group in enumerate(near.make(values, about)):
            _receiver(near, place)(*(np.asarray(value) for value in group))
    else:
        jax.debug.callback(far.receive, *far.make(values, about)[0])
    return [jnp.asarray(MARK)]


def _is_on_processor(context: Any) -> bool:
    """Whether what is compiled runs on the processor, as one device."""
    axes = context.module_context.axis_context
    alone = isinstance(axes, ShardingContext) and axes.num_devices == 1
    return alone and tuple(context.module_context.platforms) == ("cpu",)


def _lowered(context: Any, *operands: Any, near: Way, far: Way, about: Any, gated: bool) -> Any:
    def made_far(*values: Any) -> list[Any]:
        jax.debug.callback(far.receive, *far.make(values[: len(values) - gated], about)[0])
        return [jnp.asarray(MARK)]

    def call(first: Sequence[Any], rest: Sequence[Sequence[Any]]) -> Any:
        (mark,) = host_p.bind(*first, receive=_receiver(near, 0), after=0)
        for place, group in enumerate(rest, 1):
            (mark,) = host_p.bind(mark, *group, receive=_receiver(near, place), after=1)
        return mark

    def made_near(*values: Any) -> list[Any]:
        first, *rest = near.make(values[: len(values) - gated], about)
        if gated:
            return [jax.lax.cond(values[-1], call, lambda *_: jnp.asarray(MARK), first, rest)]
        return [call(first, rest)]

    return mlir.lower_fun(made_near if _is_on_processor(context) else made_far, multiple_results=True)(
        context, *operands
    )


def _asked(context: Any, *operands: Any, receive: Receive) -> Any:
    def here(at: Any, due: Any, mark: Any, now: Any) -> Any:
        def call(at: Any, mark: Any) -> Any:
            return host_p.bind(mark, at, receive=receive, after=1, answers=True)[0].astype(due.dtype)

        return jax.lax.cond(now, call, lambda *_: due, at, mark)

    def elsewhere(at: Any, due: Any, mark: Any, now: Any) -> Any:
        return (at + 1).astype(due.dtype)

    return mlir.lower_fun(here if _is_on_processor(context) else elsewhere, multiple_results=False)(
        context, *operands
    )


def _direct(context: Any, *operands: Any, receive: Receive, after: int, answers: bool = False) -> Any:
    """Arrays are read-only and end with the call: it copies what it keeps. The first `after` of them only
    say that other calls come before this one, as its own result says to others, unless it is an answer."""

    def call(*values: Any) -> tuple[Any]:
        began = time.perf_counter()
        given = receive(*values[after:])
        SPENT.seconds += AROUND + time.perf_counter() - began
        return (np.float32(given) if answers and given is not None else MARK,)

    known = context.avals_in, context.avals_out
    return mlir.emit_python_callback(context, call, None, list(operands), *known, has_side_effect=True)[0]


def _batched(values: Any, axes: Any, **ways: Any) -> tuple[list[Any], list[Any]]:
    moved = [v if axis is None else jnp.moveaxis(v, axis, 0) for v, axis in zip(values, axes, strict=True)]
    return send_p.bind(*moved, **ways), [None]


def _differentiated(primals: Any, tangents: Any, **ways: Any) -> tuple[list[Any], list[Any]]:
    found = send_p.bind(*primals, **ways)
    return found, [ad.Zero.from_primal_value(mark) for mark in found]


send_p.def_impl(_send_eagerly)
send_p.def_effectful_abstract_eval(
    lambda *values, **ways: ([jax.core.ShapedArray((), jnp.float32)], {SENDING})
)
batching.primitive_batchers[send_p] = _batched
ad.primitive_jvps[send_p] = _differentiated
mlir.register_lowering(send_p, _lowered)
host_p.def_effectful_abstract_eval(
    lambda *values, **how: ([jax.core.ShapedArray((), jnp.float32)], {SENDING})
)
mlir.register_lowering(host_p, _direct)
ask_p.def_impl(lambda at, due, mark, now, receive: at + 1)
ask_p.def_effectful_abstract_eval(
    lambda at, due, mark, now, receive: (jax.core.ShapedArray((), due.dtype), {SENDING})
)
mlir.register_lowering(ask_p, _asked)
batching.primitive_batchers[ask_p] = lambda values, _, receive: (ask_p.bind(*values, receive=receive), None)


def without_tokens(original: Callable[..., None], own: Any, *args: Any, **named: Any) -> None:
    """For `ExecuteReplicated.__init__`, of what is compiled: where the only effects are ours, and all is
    computed by the processor as one device, it is called as though it had none."""
    original(own, *args, **named)
    given = inspect.signature(original).bind(own, *args, **named).arguments
    effects, compiled = given.get("unordered_effects"), given.get("xla_executable")
    if not effects or compiled is None or not all(isinstance(effect, Sending) for effect in effects):
        return
    devices = compiled.local_devices()
    if len(devices) == 1 and devices[0].platform == "cpu":
        own.has_unordered_effects = False


def wait_until_done() -> None:
    """Wait until what was started is over, and with it what it sends."""
    jax.effects_barrier()
    for array in jax.live_arrays():
        try:
            if not array.is_deleted():
                array.block_until_ready()
        except (
            RuntimeError
        ):  # its computation failed, which the training itself learns where it reads the array
            continue
