"""The norms of a gradient's leaves, seen where optax hands it on."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from traindx.capture.jax.norms import norm


class MonitorState(NamedTuple):
    """`norms`: a tree like the parameters', with the L2 norm of each leaf of the last gradient, float32 (0
    before the first)."""

    norms: Any


def monitor() -> optax.GradientTransformation:
    """A transformation that returns gradients unchanged. Put it first in an `optax.chain` to see them before
    clipping. In a masked transformation it sees the leaves that are trained."""

    def init(params: Any) -> MonitorState:
        return MonitorState(jax.tree.map(lambda _: jnp.zeros((), jnp.float32), params))

    def update(updates: Any, state: MonitorState, params: Any = None) -> tuple[Any, MonitorState]:
        return updates, MonitorState(jax.tree.map(norm, updates))

    return optax.GradientTransformation(init, update)
