"""Functions of PyTorch that are wrapped while a model is at work, and at no other time: between two passes a script
may trace, script, export or compile what it trains, and must find the functions that it knows."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn

from traindx.capture.process.patches import Make, Patches
from traindx.capture.torch.hooks import CALLS, Handle


class Within:
    """`arm` for the coming passes, `disarm` after them."""

    def __init__(self, wrapped: Callable[[], Iterable[tuple[Any, str, Make]]]) -> None:
        self._wrapped = wrapped
        self._patches = Patches()
        self._handles: list[Handle] = []
        self._whole: dict[
            int, weakref.ref[nn.Module]
        ] = {}  # models that were called as a whole, by their id
        self._at_work: int | None = None  # id of the outermost module at work
        self.armed = False

    def arm(self, models: Iterable[nn.Module], at_work: nn.Module | None = None) -> None:
        """Wrap the functions whenever one of these models, or a part of one that is never called as a whole, is
        called (and for the call of `at_work`, which has begun); at once where there are none."""
        if self.armed:
            return
        self.armed = True
        for owner, name, make in self._wrapped():
            self._patches.replace(owner, name, make)
        heard = [m for model in models for m in ([model] if self._was_called(model) else model.modules())]
        if not heard:
            return
        self._patches.lift()
        for module in heard:
            self._handles += (CALLS.hear_before(module, self._entered), CALLS.hear_after(module, self._left))
        if at_work is not None and any(module is at_work for module in heard):
            self._entered(at_work, None, None)

    def disarm(self) -> None:
        """Put the functions back for good."""
        if self.armed:
            self.armed, self._at_work = False, None
            self._patches.undo()
            for handle in self._handles:
                handle.remove()
            self._handles.clear()

    def _was_called(self, model: nn.Module) -> bool:
        known = self._whole.get(id(model))
        return known is not None and known() is model

    def _entered(self, module: nn.Module, _args: Any, _named: Any) -> None:
        if self._at_work is None:
            self._at_work = id(module)
            self._whole[id(module)] = weakref.ref(module)
            self._patches.lay()

    def _left(self, module: nn.Module, _args: Any, _output: Any) -> None:
        if self._at_work == id(module):
            self._at_work = None
            self._patches.lift()
