"""What is computed of gradients, updates and weights within a compiled step, and sent to the host.

`near`: on the processor the host is given the weights in place, and reads them where a step is sampled
(`near` module); the update is what changed from one step to the next. Only what is there anyway may be
given: a gradient or an update that the host is given has to be written to memory where it was part of a
larger computation before, and the training is not the same to the last bit (nor where `lax.cond` reads it at
some steps only). So gradients are summed up within the step. `far`: elsewhere all of it is."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.jax.norms import norm
from traindx.capture.jax.send import Receive, Way, send_by

READ_HERE = (np.dtype(np.float32), np.dtype(np.float64))  # numpy has fast arithmetic for no other


def at_hand(known: Sequence[Any], gradients: Sequence[Any]) -> Sequence[Any]:
    """The weights that these are the gradients of, where they are known within the same computation; none
    else."""
    traces = {id(getattr(value, "_trace", None)) for value in (*known, *gradients)}
    same_shapes = [np.shape(value) for value in known] == [np.shape(value) for value in gradients]
    gone = any(isinstance(value, jax.Array) and value.is_deleted() for value in known if not traced(value))
    return known if same_shapes and len(traces) == 1 and not gone else []


def traced(value: Any) -> bool:
    """Whether this is a placeholder of a computation that is being traced."""
    return isinstance(value, jax.core.Tracer)


def send_step(
    here: Receive, elsewhere: Receive, gradients: Any, updates: Any, weights: Any, emits: Any = None
) -> None:
    """Send the arrays of a step; of weights there may be none. `here` receives what `near` makes,
    `elsewhere` what `far` does, and last of all `emits`, if it is known: False where no weight is changed."""
    sent = [jnp.asarray(value) for value in (*gradients, *updates, *weights)]
    otherwise = Way(far, elsewhere)
    plain = all(value.dtype in READ_HERE for value in sent[2 * len(gradients) :])
    more = [] if emits is None else [emits]
    near_by = Way(near, here, placed=True) if plain else otherwise
    send_by(near_by, otherwise, (len(gradients), len(weights)), *sent, *more)


def divided(values: Sequence[Any], counts: tuple[int, int]) -> list[Sequence[Any]]:
    """Gradients, updates, weights, of which there may be none, and what says whether weights change."""
    count, held = counts
    ends = (0, count, 2 * count, 2 * count + held, len(values))
    return [values[first:end] for first, end in pairwise(ends)]


def near(values: Sequence[Any], counts: tuple[int, int]) -> list[list[Any]]:
    """Weights, where there are any; then norms and shares of zeros of gradients, and norms of updates where
    there are no weights. With each, what says whether weights change."""
    gradients, updates, weights, emits = divided(values, counts)
    rest = [] if weights else [norms(updates)]
    return [[*weights, *emits], [norms(gradients), zeros(gradients), *rest, *emits]]


def far(values: Sequence[Any], counts: tuple[int, int]) -> list[list[Any]]:
    """`[READINGS, p]` (`compiled/steps.py`); NaN of weights that are not given. Then what says whether they change."""
    gradients, updates, weights, emits = divided(values, counts)
    rows = jnp.stack([norms(gradients), zeros(gradients), norms(updates)])
    sizes = of_weights(weights) if weights else jnp.full((2, counts[0]), jnp.nan)
    return [[jnp.concatenate([rows, sizes]), *emits]]


def norms(arrays: Sequence[Any]) -> Any:
    return jnp.stack([norm(values) for values in arrays])


def zeros(arrays: Sequence[Any]) -> Any:
    return jnp.stack([jnp.mean((values == 0).astype(jnp.float32)) for values in arrays])


def of_weights(weights: Sequence[Any]) -> Any:
    """`[2, p]`: norms and largest values."""
    return jnp.stack([norms(weights), jnp.stack([jnp.max(jnp.abs(w)).astype(jnp.float32) for w in weights])])
