"""What a session knows of JAX: leaves of a tree, by name. Their arrays are others after each step, and are
not kept."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.compiled.leaves import Leaf
from traindx.capture.jax.norms import norm
from traindx.capture.session.backend import Backend
from traindx.capture.session.layout import Part
from traindx.vocabulary.run import Floats
from traindx.vocabulary.setup import Fact


class Optimizer(NamedTuple):
    """Represents the states of an optimizer: the leaves whose gradients its monitor sees."""

    leaves: list[Leaf]


@functools.partial(jax.jit, static_argnums=1)
def stacked(norms: list[Any], count: int) -> Any:
    """`norms[count]` in one new array, as the loop may give those of its state away (`donate_argnums`);
    zeros for the leaves that have none."""
    return jnp.pad(jnp.stack(norms), (0, count - len(norms)))


whole_norm = jax.jit(norm)


class MonitorBackend(Backend):
    """Leaves, and the norms that a monitor left. Numbers count as elsewhere: the loop goes on while JAX
    computes."""

    name = "jax"
    libraries = ("jax", "flax", "optax")

    def __init__(self) -> None:
        # `norms[p]` of the last step: the optimizer's leaves, then those that it does not have.
        self.norms: Any = None

    def parts(self, model: Sequence[Leaf], prefix: str) -> Sequence[Part] | None:
        return [Part(leaf, leaf.name, leaf.owner) for leaf in model]

    def size(self, parameter: Leaf) -> int:
        return parameter.size

    def given(self, optimizer: Optimizer) -> list[Leaf]:
        return optimizer.leaves

    def optimizer_facts(self, optimizer: Optimizer) -> dict[str, Fact]:
        return {}  # an optax transformation is two functions, which do not show what they were made from

    def elsewhere(self, parameters: Sequence[Leaf]) -> bool:
        return True

    def gradient_squares(self, parameters: Sequence[Leaf], elsewhere: bool) -> Any:
        return self.norms

    def global_norm(self, norms: Any) -> Any:
        return whole_norm(norms)

    def number(self, value: Any) -> Any:
        if isinstance(value, jax.Array):
            return value if value.size == 1 else None
        return super().number(value)

    def fetch(self, values: Sequence[Any]) -> list[Floats]:
        return [np.asarray(v, np.float64).reshape(-1) for v in jax.device_get(list(values))]
