"""Observes calls of modules without a hook on any of them.

What is registered with a module or a parameter is part of it: it is pickled and copied with it, scripted,
exported and compiled. So the code of `torch.nn.Module.__call__` itself is exchanged, while there are
listeners to any module: it looks up in a dict whether the module has some. They are not called while a model
is traced: the graph must contain no operation of ours."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch
from torch import nn

from traindx.capture.process.code_rewriting import NotRecodable, add_listener

Before = Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], object]
After = Callable[[nn.Module, tuple[Any, ...], Any], object]


def is_tracing() -> bool:
    """Whether operations are traced now (by a compiler, an exporter, a tracer, a function transform or a
    mode that counts them), or are not executed at all: then nothing may be measured."""
    tracer = sys.modules.get("torch.fx._symbolic_trace")
    return bool(
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack()
        or torch._C._functorch.peek_interpreter_stack() is not None
        or getattr(tracer, "_is_fx_tracing_flag", False)
    )


def something_is_compiled() -> bool:
    """Whether `torch.compile` was used in this process: what it traces must not be wrapped."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return any(backend is not None for backend in getattr(frames, "cached_backends", {}).values())


class Handle:
    """One listener. `remove` may be called twice, and by the listener itself."""

    def __init__(self, remove: Callable[[Handle], None], hook: Callable[..., object]) -> None:
        self._remove, self.hook = remove, hook

    def remove(self) -> None:
        self._remove(self)


class Listeners:
    """The listeners of one module."""

    def __init__(self, module: nn.Module, gone: Callable[[Any], None]) -> None:
        self.module = weakref.ref(module, gone)
        self.before: tuple[Handle, ...] = ()
        self.after: tuple[Handle, ...] = ()


class LastMoments(dict[int, Callable[[nn.Module], object]]):
    """By the id of a module, a hook for the moment in which the script frees it: `__del__` is called while
    the module is still intact, before its weak references are cleared, and keeps nothing alive. Classes with
    their own `__del__` are not observed, nor are modules that only the garbage collector frees."""

    def ask(self, module: nn.Module, hook: Callable[[nn.Module], object]) -> None:
        if not self:
            nn.Module.__del__ = lambda module: self.call(module)
        self[id(module)] = hook

    def call(self, module: nn.Module) -> None:
        hook = self.pop(id(module), None) if self else None
        if hook is not None:
            hook(module)
            if not self:
                self.forget()

    def forget(self) -> None:
        self.clear()
        if "__del__" in vars(nn.Module):
            del nn.Module.__del__


LAST_MOMENTS = LastMoments()


class Calls(dict[int, Listeners]):
    """Listeners by the id of their module."""

    __hash__, __eq__ = object.__hash__, object.__eq__  # type: ignore[assignment] # torch.compile hashes constants of code

    def __init__(self) -> None:
        super().__init__()
        self.all: tuple[Handle, ...] = ()  # called before any module is
        self.method = getattr(nn.Module, "_wrapped_call_impl", nn.Module._call_impl)  # what `__call__` is
        self.plain: CodeType = self.method.__code__
        self.codes: dict[bool, CodeType] = {}  # that listen: to all modules, or to some
        self.refused = ""  # why calls cannot be observed
        self.silent = 0
        self.deaf: Callable[[], bool] | None = None  # whether the current call is not part of the training
        self.lock = threading.RLock()

    # Listening.

    def add_before_hook(self, module: nn.Module, hook: Before, first: bool = False) -> Handle:
        """Have `hook(module, args, named)` called before the module is; `first`: before the other
        listeners."""
        place = id(module)  # a handle must not hold the module
        with self.lock:
            handle = Handle(lambda it: self.remove(place, it), hook)
            listeners = self.listeners_of(module)
            listeners.before = (handle, *listeners.before) if first else (*listeners.before, handle)
            return handle

    def add_after_hook(self, module: nn.Module, hook: After) -> Handle:
        """Have `hook(module, args, output)` called once the module has answered."""
        place = id(module)
        with self.lock:
            handle = Handle(lambda it: self.remove(place, it), hook)
            listeners = self.listeners_of(module)
            listeners.after = (*listeners.after, handle)
            return handle

    def add_hook_for_all(self, hook: Before) -> Handle:
        """Have `hook(module, args, named)` called before any module is."""
        with self.lock:
            handle = Handle(self.remove_all, hook)
            self.all = (*self.all, handle)
            self.recode()
            return handle

    def move(self, old: nn.Module, new: nn.Module) -> None:
        """A module replaces another: it gets its listeners."""
        with self.lock:
            found = self.get(id(old))
            if found is not None:
                listeners = self.listeners_of(new)
                listeners.before, listeners.after = found.before, found.after

    @contextmanager
    def ignored(self) -> Iterator[None]:
        """Calls that are not part of the training."""
        self.silent += 1
        try:
            yield
        finally:
            self.silent -= 1

    def listeners_of(self, module: nn.Module) -> Listeners:
        place = id(module)
        found = self.get(place)
        if found is None or found.module() is not module:
            for empty in [key for key, it in self.items() if it.module() is None]:
                del self[empty]
            found = self[place] = Listeners(module, lambda it: self.gone(place, it))
            self.recode()
        return found

    def gone(self, place: int, reference: Any) -> None:
        """A module is freed, and another may get its id. Its entry is emptied, not deleted: torch.compile
        iterates over this table while garbage is collected, and fails if keys vanish."""
        found = self.get(place)
        if found is not None and found.module is reference:
            found.before = found.after = ()

    def remove(self, place: int, handle: Handle) -> None:
        with self.lock:
            found = self.get(place)
            if found is None:
                return
            found.before = tuple(h for h in found.before if h is not handle)
            found.after = tuple(h for h in found.after if h is not handle)
            if not found.before and not found.after:
                del self[place]
                self.recode()

    def remove_all(self, handle: Handle) -> None:
        with self.lock:
            self.all = tuple(h for h in self.all if h is not handle)
            self.recode()

    def recode(self) -> None:
        """Give `__call__` the code that is needed now, unless somebody else has replaced it."""
        if self.refused or self.method.__code__ not in (self.plain, *self.codes.values()):
            return
        wanted = self.plain
        if self or self.all:
            wanted = self.listening_code(bool(self.all))
        if self.method.__code__ is not wanted:
            self.method.__code__ = wanted

    def listening_code(self, everyone: bool) -> CodeType:
        if everyone not in self.codes:
            try:
                self.codes[everyone] = add_listener(
                    self.method, self, "torch.compiler.is_compiling()", everyone
                )
            except NotRecodable as why:
                self.refused = str(why)
                return self.plain
        return self.codes[everyone]

    # Calling the listeners.

    def listens(self) -> bool:
        return not (self.silent or is_tracing() or (self.deaf is not None and self.deaf()))

    def before(self, module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A module is about to be called."""
        found = self.get(id(module))
        hooks = self.all if found is None else (*self.all, *found.before)
        if hooks and self.listens():
            for handle in hooks:
                handle.hook(module, args, named)

    def after(self, module: nn.Module, args: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        """A module has answered."""
        found = self.get(id(module))
        if found is not None and found.after and self.listens():
            for handle in found.after:
                handle.hook(module, args, output)


CALLS = Calls()
