"""Values of a computation that may be compiled, told to Python as it runs.

One primitive without results: transformations that differentiate pass it by, `vmap` hands it the whole batch at once,
and what is compiled calls the host with the first rows. Nothing that is computed depends on it. On one device the host
is called with plain arrays: `jax.debug.callback` makes JAX's own of them first, which takes fifteen times as long."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.debugging import debug_effect
from jax._src.sharding_impls import ShardingContext
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

READ = 1 << 14  # values of an array that leave it, whole samples
Hear = Callable[..., None]

tell_p = Primitive("traindx_tell")
tell_p.multiple_results = True
host_p = Primitive("traindx_host")  # what is left of it once it is compiled
host_p.multiple_results = True


def tell(hear: Hear, *values: Any) -> None:
    """Call `hear` with these arrays (of large ones the first samples) each time that this is computed."""
    tell_p.bind(*(jax.lax.stop_gradient(jnp.asarray(value)) for value in values), hear=hear)


def part(values: Any) -> Any:
    """The first samples of an array."""
    if values.ndim == 0 or values.size <= READ:
        return values
    return values[: max(1, READ * values.shape[0] // math.prod(values.shape))]


def _called(*values: Any, hear: Hear) -> list[Any]:
    jax.debug.callback(hear, *(part(value) for value in values))
    return []


def _lowered(*values: Any, hear: Hear) -> list[Any]:
    host_p.bind(*(part(value) for value in values), hear=hear)
    return []


def _direct(context: Any, *operands: Any, hear: Hear) -> Any:
    """Arrays are read-only and end with the call: it copies what it keeps."""
    axes = context.module_context.axis_context
    if not isinstance(axes, ShardingContext) or axes.num_devices != 1:
        return mlir.lower_fun(_called, multiple_results=True)(context, *operands, hear=hear)

    def call(*values: Any) -> tuple[()]:
        hear(*values)
        return ()

    known = context.avals_in, context.avals_out
    return mlir.emit_python_callback(context, call, None, list(operands), *known, has_side_effect=True)[0]


def _batched(values: Any, axes: Any, *, hear: Hear) -> tuple[list[Any], list[Any]]:
    moved = [v if axis is None else jnp.moveaxis(v, axis, 0) for v, axis in zip(values, axes, strict=True)]
    tell_p.bind(*moved, hear=hear)
    return [], []


def _differentiated(primals: Any, tangents: Any, *, hear: Hear) -> tuple[list[Any], list[Any]]:
    tell_p.bind(*primals, hear=hear)
    return [], []


tell_p.def_impl(_called)
tell_p.def_effectful_abstract_eval(lambda *values, hear: ([], {debug_effect}))
batching.primitive_batchers[tell_p] = _batched
ad.primitive_jvps[tell_p] = _differentiated
mlir.register_lowering(tell_p, mlir.lower_fun(_lowered, multiple_results=True))
host_p.def_effectful_abstract_eval(lambda *values, hear: ([], {debug_effect}))
mlir.register_lowering(host_p, _direct)
