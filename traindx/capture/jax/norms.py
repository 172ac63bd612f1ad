"""The norm of an array of JAX."""

from typing import Any

import jax.numpy as jnp


def norm(values: Any) -> Any:
    """The L2 norm of an array, float32. Divided by the largest value first: squares of a gradient that
    explodes would not be finite long before it is."""
    sizes = jnp.abs(values).astype(jnp.float32)
    most = jnp.max(sizes, initial=0.0)
    scale = jnp.where(jnp.isfinite(most) & (most > 0), most, 1.0)
    return scale * jnp.sqrt(jnp.sum(jnp.square(sizes / scale)))
