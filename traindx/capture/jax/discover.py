"""The steps of an optax loop. A compiled step cannot be observed from outside, so the loop reports the state
that it returned.

A session knows the leaves of a tree, by name. Their arrays are others after each step, and are
not kept."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from traindx.capture.compiled.leaves import Leaf
from traindx.capture.jax.monitor import MonitorState
from traindx.capture.jax.norms import norm
from traindx.capture.jax.trees import leaves_of
from traindx.capture.session import Backend, Loop, Part, Session
from traindx.errors import ConfigError
from traindx.vocabulary import Fact, Floats


def watches(params: Any, state: Any) -> bool:
    """Whether these are a tree with JAX's arrays, or an optimizer's state with a monitor."""
    return find_monitor_state(state) is not None or any(
        isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(params)
    )


def find_monitor_state(state: Any) -> MonitorState | None:
    """The first monitor's state in an optimizer's."""
    inner = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, MonitorState))
    return next((found for found in inner if isinstance(found, MonitorState)), None)


class JaxLoop(Loop):
    """The leaves of `params`, and the state that `optimizer.init(params)` gave. Raises ConfigError where no
    monitor is in it. `options` are those of `Session`."""

    def __init__(self, params: Any, state: Any, out: Path | None, **options: Any) -> None:
        found = find_monitor_state(state)
        if found is None:
            raise ConfigError(
                "traindx.watch: no monitor is in the optimizer's state; make it with optax.chain(monitor(), ...), "
                "monitor being that of traindx.optax, and give what its init(params) returns"
            )
        self._backend = MonitorBackend()
        self._leaves = leaves_of(params)
        self._optimizer = Optimizer(self._known(found))
        self.session = Session(out, self._backend, **options)

    def _known(self, found: MonitorState) -> list[Leaf]:
        """The leaves that a monitor sees: all, or those that are not masked."""
        by_name = {leaf.name: leaf for leaf in self._leaves}
        names = [leaf.name for leaf in leaves_of(found.norms)]
        if not set(names) <= set(by_name):
            raise ConfigError("traindx.watch: the optimizer's state is that of other parameters")
        return [by_name[name] for name in names]

    def begin(self, stepped: Callable[[], None]) -> None:
        self._stepped = stepped
        self.session.add_model(self._leaves)
        self.session.add_optimizer(self._optimizer)

    def step(self, state: Any) -> None:
        if not self.session.active:
            return
        found = find_monitor_state(state)
        if found is None:
            raise ConfigError(
                "watch.step: no monitor is in the state; give the optimizer's state after the step"
            )
        self._backend.norms = stacked(jax.tree.leaves(found.norms), len(self._leaves))
        self.session.optimizer_step_begin(self._optimizer, timed=False)
        self.session.optimizer_step_end(self._optimizer)
        self._stepped()

    def end(self) -> None:
        """There are no hooks."""


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

    def parameters_of(self, optimizer: Optimizer) -> list[Leaf]:
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
