"""What is computed of the leaves within a compiled step, for the host to be told.

All of it at every step: a branch that is taken at some steps only (`lax.cond`) has the compiler fuse what feeds it
otherwise, and the training is not the same to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from traindx.capture.jax.norms import norm


def of_update(gradients: Sequence[Any], updates: Sequence[Any], weights: Sequence[Any]) -> Any:
    """`[READINGS, p]` (`session/traced.py`); NaN of weights that are not given."""
    rows = [
        jnp.stack([norm(g) for g in gradients]),
        jnp.stack([jnp.mean((g == 0).astype(jnp.float32)) for g in gradients]),
        jnp.stack([norm(u) for u in updates]),
    ]
    held = of_weights(weights) if weights else jnp.full((2, len(gradients)), jnp.nan)
    return jnp.concatenate([jnp.stack(rows), held])


def of_weights(weights: Sequence[Any]) -> Any:
    """`[2, p]`: norms and largest values."""
    largest = [jnp.max(jnp.abs(w)).astype(jnp.float32) for w in weights]
    return jnp.stack([jnp.stack([norm(w) for w in weights]), jnp.stack(largest)])
