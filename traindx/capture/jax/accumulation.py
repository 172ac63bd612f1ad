"""Optimizers of optax that add up the gradients of several calls, and change the weights at the last of them."""

from typing import Any

import jax
import jax.numpy as jnp


class Accumulation:
    """Which calls of `update` change weights. `emits`: whether the call at hand does, as an array of the computation;
    None where each does."""

    def __init__(self) -> None:
        self.emits: Any = None
        self._every = 0  # of `apply_every`

    def of_multi_steps(self, multi: Any, state: Any) -> Any:
        """For a call of `MultiSteps.update`: it calls its optimizer each time, and drops most of what that gives."""
        return state.mini_step == multi._every_k_schedule(state.gradient_step) - 1

    def made(self, original: Any, k: Any = 1) -> Any:
        """`apply_every` is called, which passes zeros on but at every `k`-th call."""
        self._every = k
        return original(k)

    def at(self, state: Any) -> Any:
        """Whether this call changes weights, by the state before it."""
        if self.emits is not None or not self._every:
            return self.emits
        inner = jax.tree.leaves(state, is_leaf=is_counter)
        counts = [node.count for node in inner if is_counter(node)]
        return jnp.asarray(counts[0] % self._every == self._every - 1) if counts else None


def is_counter(node: Any) -> bool:
    return type(node).__name__ == "ApplyEvery"
