"""Functions of PyTorch that are wrapped while a model is called, and at no other time: between two passes a
script may trace, script, export or compile the model, and must find PyTorch's own functions."""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn

from traindx.capture.process.patches import Make, Patches, remove_all
from traindx.capture.torch.hooks import CALLS, Handle


class WrappedFunctions:
    """`arm` before the coming passes, `disarm` after them. `wrappers` gives the owner and the name of each
    function, and what makes its wrapper."""

    def __init__(self, wrappers: Callable[[], Iterable[tuple[Any, str, Make]]]) -> None:
        self._wrappers = wrappers
        self._patches = Patches()
        self._handles: list[Handle] = []
        self._roots: dict[
            int, weakref.ref[nn.Module]
        ] = {}  # models that were called as a whole, by their id
        self._running: int | None = None  # id of the outermost module that is being called
        self.armed = False

    def arm(self, models: Iterable[nn.Module], running: nn.Module | None = None) -> None:
        """Wrap the functions whenever one of these models is called, or a part of a model that is never
        called as a whole. The call of `running` has begun already. Without any model, wrap them at once."""
        if self.armed:
            return
        self.armed = True
        for owner, name, make in self._wrappers():
            self._patches.replace(owner, name, make)
        observed = [m for model in models for m in ([model] if self._is_root(model) else model.modules())]
        if not observed:
            return
        self._patches.lift()
        for module in observed:
            self._handles += (
                CALLS.add_before_hook(module, self._begin),
                CALLS.add_after_hook(module, self._end),
            )
        if running is not None and any(module is running for module in observed):
            self._begin(running, None, None)

    def disarm(self) -> None:
        """Put the functions back for good."""
        if self.armed:
            self.armed, self._running = False, None
            self._patches.undo()
            remove_all(self._handles)

    def _is_root(self, model: nn.Module) -> bool:
        known = self._roots.get(id(model))
        return known is not None and known() is model

    def _begin(self, module: nn.Module, _args: Any, _named: Any) -> None:
        if self._running is None:
            self._running = id(module)
            self._roots[id(module)] = weakref.ref(module)
            self._patches.lay()

    def _end(self, module: nn.Module, _args: Any, _output: Any) -> None:
        if self._running == id(module):
            self._running = None
            self._patches.lift()
