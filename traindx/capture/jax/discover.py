"""The steps of an optax loop. A compiled step cannot be observed from outside, so the loop reports the state
that it returned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

from traindx.capture.compiled.leaves import Leaf
from traindx.capture.jax.backend import MonitorBackend, Optimizer, stacked
from traindx.capture.jax.monitor import MonitorState
from traindx.capture.jax.names import leaves_of
from traindx.capture.session.loop import Loop
from traindx.capture.session.session import Session
from traindx.errors import ConfigError


def watches(params: Any, state: Any) -> bool:
    """Whether these are a tree with JAX's arrays, or an optimizer's state with a monitor."""
    return monitored(state) is not None or any(
        isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(params)
    )


def monitored(state: Any) -> MonitorState | None:
    """The first monitor's state in an optimizer's."""
    inner = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, MonitorState))
    return next((found for found in inner if isinstance(found, MonitorState)), None)


class JaxLoop(Loop):
    """The leaves of `params`, and the state that `optimizer.init(params)` gave. Raises ConfigError where no
    monitor is in it. `options` are those of `Session`."""

    def __init__(self, params: Any, state: Any, out: Path | None, **options: Any) -> None:
        found = monitored(state)
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
        found = monitored(state)
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
