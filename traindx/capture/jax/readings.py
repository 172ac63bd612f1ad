"""What is computed of gradients, updates and weights within a compiled step, for the host to be told.

`near`: on the processor the host is given gradients and weights as they lie in memory, and reads them itself (`near`
module): XLA sums without vectors there, and `lax.cond`, to sum at some steps only, has what feeds the sums fused
otherwise: the training is not the same to the last bit. The update stays where it is, for that reason: the host takes
it from the weights before and after. `far`: elsewhere all of it is computed at every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.jax.norms import norm
from traindx.capture.jax.tell import Hear, Way, tell_by

READ_HERE = (np.dtype(np.float32), np.dtype(np.float64))  # numpy has fast arithmetic for no other


def at_hand(known: Sequence[Any], gradients: Sequence[Any]) -> Sequence[Any]:
    """The weights that these are the gradients of, where they are known within the same computation; none else."""
    traces = {id(getattr(value, "_trace", None)) for value in (*known, *gradients)}
    alike = [np.shape(value) for value in known] == [np.shape(value) for value in gradients]
    gone = any(isinstance(value, jax.Array) and value.is_deleted() for value in known if not traced(value))
    return known if alike and len(traces) == 1 and not gone else []


def traced(value: Any) -> bool:
    """Whether this stands for an array of a computation that is being traced."""
    return isinstance(value, jax.core.Tracer)


def tell_step(here: Hear, elsewhere: Hear, gradients: Any, updates: Any, weights: Any) -> None:
    """Tell the leaves of a step; of weights there may be none. `here` hears what `near` gives, `elsewhere` what `far`
    does."""
    told = [jnp.asarray(value) for value in (*gradients, *updates, *weights)]
    otherwise = Way(far, elsewhere)
    plain = all(value.dtype in READ_HERE for value in told)
    tell_by(Way(near, here) if plain else otherwise, otherwise, len(gradients), *told)


def divided(values: Sequence[Any], count: int) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Gradients, updates, weights: `count` of each, of weights there may be none."""
    return values[:count], values[count : 2 * count], values[2 * count :]


def near(values: Sequence[Any], count: int) -> list[Any]:
    """Gradients and weights; the norms of updates where there are no weights."""
    gradients, updates, weights = divided(values, count)
    return [*gradients, *(weights or [jnp.stack([norm(u) for u in updates])])]


def far(values: Sequence[Any], count: int) -> list[Any]:
    """`[READINGS, p]` (`session/traced.py`); NaN of weights that are not given."""
    gradients, updates, weights = divided(values, count)
    rows = [
        jnp.stack([norm(g) for g in gradients]),
        jnp.stack([jnp.mean((g == 0).astype(jnp.float32)) for g in gradients]),
        jnp.stack([norm(u) for u in updates]),
    ]
    held = of_weights(weights) if weights else jnp.full((2, count), jnp.nan)
    return [jnp.concatenate([jnp.stack(rows), held])]


def of_weights(weights: Sequence[Any]) -> Any:
    """`[2, p]`: norms and largest values."""
    largest = [jnp.max(jnp.abs(w)).astype(jnp.float32) for w in weights]
    return jnp.stack([jnp.stack([norm(w) for w in weights]), jnp.stack(largest)])
