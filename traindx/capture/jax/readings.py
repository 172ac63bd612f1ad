"""What is computed of gradients, updates and weights within a compiled step, and sent to the host.

`host_readings`: on the processor the host is given the weights in place, and reads them where a step is sampled
(`host_readings` module); the update is what changed from one step to the next. Only what is there anyway may be
given: a gradient or an update that the host is given has to be written to memory where it was part of a
larger computation before, and the training is not the same to the last bit (nor where `lax.cond` reads it at
some steps only). So gradients are summed up within the step. `device_readings`: elsewhere all of it is."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.jax.host_callbacks import Receive, Way, send_by
from traindx.capture.jax.norms import norm

READ_HERE = (np.dtype(np.float32), np.dtype(np.float64))  # numpy has fast arithmetic for no other


def available_weights(known: Sequence[Any], gradients: Sequence[Any]) -> Sequence[Any]:
    """The weights that these are the gradients of, where they are known within the same computation; none
    else."""
    traces = {id(getattr(value, "_trace", None)) for value in (*known, *gradients)}
    same_shapes = [np.shape(value) for value in known] == [np.shape(value) for value in gradients]
    gone = any(
        isinstance(value, jax.Array) and value.is_deleted() for value in known if not is_traced(value)
    )
    return known if same_shapes and len(traces) == 1 and not gone else []


def is_traced(value: Any) -> bool:
    """Whether this is a placeholder of a computation that is being traced."""
    return isinstance(value, jax.core.Tracer)


def send_step(
    here: Receive, elsewhere: Receive, gradients: Any, updates: Any, weights: Any, emits: Any = None
) -> None:
    """Send the arrays of a step; of weights there may be none. `here` receives what `host_readings` makes,
    `elsewhere` what `device_readings` does, and last of all `emits`, if it is known: False where no weight is changed."""
    sent = [jnp.asarray(value) for value in (*gradients, *updates, *weights)]
    otherwise = Way(device_readings, elsewhere)
    plain = all(value.dtype in READ_HERE for value in sent[2 * len(gradients) :])
    more = [] if emits is None else [emits]
    near_by = Way(host_readings, here, placed=True) if plain else otherwise
    send_by(near_by, otherwise, (len(gradients), len(weights)), *sent, *more)


def split_readings(values: Sequence[Any], counts: tuple[int, int]) -> list[Sequence[Any]]:
    """Gradients, updates, weights, of which there may be none, and what says whether weights change."""
    count, held = counts
    ends = (0, count, 2 * count, 2 * count + held, len(values))
    return [values[first:end] for first, end in pairwise(ends)]


def host_readings(values: Sequence[Any], counts: tuple[int, int]) -> list[list[Any]]:
    """Weights, where there are any; then norms and shares of zeros of gradients, and norms of updates where
    there are no weights. With each, what says whether weights change."""
    gradients, updates, weights, emits = split_readings(values, counts)
    rest = [] if weights else [norms(updates)]
    return [[*weights, *emits], [norms(gradients), zeros(gradients), *rest, *emits]]


def device_readings(values: Sequence[Any], counts: tuple[int, int]) -> list[list[Any]]:
    """`[READINGS, p]` (`compiled/steps.py`); NaN of weights that are not given. Then what says whether they change."""
    gradients, updates, weights, emits = split_readings(values, counts)
    rows = jnp.stack([norms(gradients), zeros(gradients), norms(updates)])
    sizes = weight_readings(weights) if weights else jnp.full((2, counts[0]), jnp.nan)
    return [[jnp.concatenate([rows, sizes]), *emits]]


def norms(arrays: Sequence[Any]) -> Any:
    return jnp.stack([norm(values) for values in arrays])


def zeros(arrays: Sequence[Any]) -> Any:
    return jnp.stack([jnp.mean((values == 0).astype(jnp.float32)) for values in arrays])


def weight_readings(weights: Sequence[Any]) -> Any:
    """`[2, p]`: norms and largest values."""
    return jnp.stack([norms(weights), jnp.stack([jnp.max(jnp.abs(w)).astype(jnp.float32) for w in weights])])
