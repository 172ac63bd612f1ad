"""Values of a computation that may be compiled, told to Python as it runs.

One primitive without results: transformations that differentiate pass it by, `vmap` hands it the whole batch at once,
and what is compiled calls the host. Nothing that is computed depends on it. Where all is computed by the processor, on
one device, the host is called with plain arrays that lie where they were computed: `jax.debug.callback` makes JAX's own
of them first, which takes fifteen times as long."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.debugging import debug_effect
from jax._src.sharding_impls import ShardingContext
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

READ = 1 << 14  # values of an array that leave it, whole samples
Hear = Callable[..., None]


class Way(NamedTuple):
    """How values reach the host: what `make(values, count)` computes of them is heard."""

    make: Callable[[Sequence[Any], int], Sequence[Any]]
    hear: Hear


tell_p = Primitive("traindx_tell")
tell_p.multiple_results = True
host_p = Primitive("traindx_host")  # what is left of it once it is compiled
host_p.multiple_results = True


def tell(hear: Hear, *values: Any) -> None:
    """Call `hear` with these arrays (of large ones the first samples) each time that this is computed."""
    tell_by(Way(parts, hear), Way(parts, hear), 0, *values)


def tell_by(near: Way, far: Way, count: int, *values: Any) -> None:
    """Tell these arrays by one way where they lie in the host's memory, by another where they do not. `count` is handed
    to what is made of them."""
    plain = (jax.lax.stop_gradient(jnp.asarray(value)) for value in values)
    tell_p.bind(*plain, near=near, far=far, count=count)


def parts(values: Sequence[Any], count: int = 0) -> list[Any]:
    """The first samples of each array."""
    return [part(value) for value in values]


def part(values: Any) -> Any:
    """The first samples of an array."""
    if values.ndim == 0 or values.size <= READ:
        return values
    return values[: max(1, READ * values.shape[0] // math.prod(values.shape))]


def _at_once(*values: Any, near: Way, far: Way, count: int) -> list[Any]:
    """Outside of what is compiled."""
    devices = set().union(*(value.devices() for value in values))
    if len(devices) == 1 and devices.pop().platform == "cpu":
        near.hear(*(np.asarray(value) for value in near.make(values, count)))
    else:
        jax.debug.callback(far.hear, *far.make(values, count))
    return []


def _by_callback(*values: Any, hear: Hear) -> list[Any]:
    jax.debug.callback(hear, *values)
    return []


def _here(context: Any) -> bool:
    """Whether what is compiled runs on the processor, as one device."""
    axes = context.module_context.axis_context
    alone = isinstance(axes, ShardingContext) and axes.num_devices == 1
    return alone and tuple(context.module_context.platforms) == ("cpu",)


def _lowered(context: Any, *operands: Any, near: Way, far: Way, count: int) -> Any:
    way = near if _here(context) else far

    def made(*values: Any) -> list[Any]:
        host_p.bind(*way.make(values, count), hear=way.hear)
        return []

    return mlir.lower_fun(made, multiple_results=True)(context, *operands)


def _direct(context: Any, *operands: Any, hear: Hear) -> Any:
    """Arrays are read-only and end with the call: it copies what it keeps."""
    if not _here(context):
        return mlir.lower_fun(_by_callback, multiple_results=True)(context, *operands, hear=hear)

    def call(*values: Any) -> tuple[()]:
        hear(*values)
        return ()

    known = context.avals_in, context.avals_out
    return mlir.emit_python_callback(context, call, None, list(operands), *known, has_side_effect=True)[0]


def _batched(values: Any, axes: Any, **ways: Any) -> tuple[list[Any], list[Any]]:
    moved = [v if axis is None else jnp.moveaxis(v, axis, 0) for v, axis in zip(values, axes, strict=True)]
    tell_p.bind(*moved, **ways)
    return [], []


def _differentiated(primals: Any, tangents: Any, **ways: Any) -> tuple[list[Any], list[Any]]:
    tell_p.bind(*primals, **ways)
    return [], []


tell_p.def_impl(_at_once)
tell_p.def_effectful_abstract_eval(lambda *values, **ways: ([], {debug_effect}))
batching.primitive_batchers[tell_p] = _batched
ad.primitive_jvps[tell_p] = _differentiated
mlir.register_lowering(tell_p, _lowered)
host_p.def_effectful_abstract_eval(lambda *values, hear: ([], {debug_effect}))
mlir.register_lowering(host_p, _direct)
