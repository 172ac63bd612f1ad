"""Functions of other libraries are wrapped in place, invisibly, and put back.

References to objects of a script keep nothing alive: what it frees is freed at the same moment as in a plain
run."""

import functools
import glob
import inspect
import linecache
import os
import sys
import sysconfig
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

# `warnings` does not count frames whose file name holds "importlib" and "_bootstrap" (its stacklevel
# then still points at the user's line), and `without_wrappers` knows wrappers by it.
WRAPPER = "traindx/importlib_bootstrap"

Make = Callable[[Callable[..., Any]], Callable[..., Any]]


@contextmanager
def set_within(owner: object, name: str, value: object) -> Iterator[None]:
    """While this is entered, an attribute has another value."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def remove_all(handles: list[Any]) -> None:
    """Take away the hooks that these handles are of, and forget them."""
    for handle in handles:
        handle.remove()
    handles.clear()


def is_imported(name: str) -> bool:
    """Whether a module is there, and not only being imported (optax imports JAX first of all)."""
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


class Patch(NamedTuple):
    owner: Any
    name: str
    original: Any
    replacement: Any
    own: bool  # the attribute was the owner's, not inherited


class Patches:
    """Everything that was replaced; `undo` puts it back."""

    def __init__(self) -> None:
        self.made: list[Patch] = []

    def replace(self, owner: Any, name: str, make: Make) -> None:
        """Put `make(original)` where `owner.name` was; an owner without it is left alone."""
        original = getattr(owner, name, None)
        if original is None:
            return
        replacement = mark_as_wrapper(make(original))
        functools.update_wrapper(replacement, original)
        replacement.__prepare_scriptable__ = lambda: original  # type: ignore[attr-defined] # for torch.jit.script
        self.made.append(Patch(owner, name, original, replacement, name in vars(owner)))
        setattr(owner, name, replacement)

    def around(self, owner: Any, name: str, hook: Callable[..., Any]) -> None:
        """Have `hook(original, *args, **named)` called instead of `owner.name` (for a method, args begin with
        its object). A frame more than a function made for `replace`, which hot paths use."""
        function = getattr(hook, "func", hook)  # of a partial
        mark_as_wrapper(getattr(function, "__func__", function))

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *args, **named: hook(original, *args, **named)

        self.replace(owner, name, make)

    def undo(self) -> None:
        """Put back what is still ours; what someone else has wrapped since then stays wrapped."""
        self.lift()
        self.made.clear()

    def lift(self) -> None:
        """As `undo`, until `lay`."""
        for owner, name, original, replacement, own in reversed(self.made):
            if vars(owner).get(name) is not replacement:
                continue
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

    def lay(self) -> None:
        """Put the replacements where they were, but for what someone else has replaced since then."""
        for owner, name, original, replacement, _ in self.made:
            if getattr(owner, name, None) is original:
                setattr(owner, name, replacement)


def mark_as_wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its code marked as a wrapper's."""
    linecache.cache.setdefault(
        WRAPPER, (0, None, [], WRAPPER)
    )  # else tracebacks show lines of whatever has that number
    code: CodeType = function.__code__
    function.__code__ = code.replace(co_filename=WRAPPER)
    return function


def without_wrappers(error: BaseException, seen: set[int] | None = None) -> BaseException:
    """Take the wrappers' frames out of a traceback, and out of those it was caused by."""
    seen = set() if seen is None else seen
    if id(error) in seen:
        return error
    seen.add(id(error))
    error.__traceback__ = drop_wrapper_frames(error.__traceback__)
    for other in (error.__cause__, error.__context__):
        if other is not None:
            without_wrappers(other, seen)
    return error


def drop_wrapper_frames(trace: TracebackType | None) -> TracebackType | None:
    entries = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != WRAPPER:
            entries.append(trace)
        trace = trace.tb_next
    for entry, after in zip_longest(entries, entries[1:]):
        entry.tb_next = after
    return entries[0] if entries else None


class Lines:
    """Finds which line of the user's code is running. File names are relative to `folder`, or
    to that of the script."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        paths = sysconfig.get_paths()
        library = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib") if key in paths}
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        # `pip install --target` puts packages into any folder.
        others = (path for path in sys.path if path and os.path.abspath(path) != os.path.abspath(folder))
        installed = [path for path in others if glob.glob(os.path.join(glob.escape(path), "*.dist-info"))]
        self.foreign = tuple(os.path.join(path, "") for path in (*library, *installed, here))
        self.known: dict[str, str] = {WRAPPER: ""}  # file name -> how it is shown; "" for a library's

    def here(self, depth: int = 2) -> str:
        """`file:line` of the innermost frame of the user's, or "" where there is none."""
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None:
            name = frame.f_code.co_filename
            shown = self.known.get(name)
            if shown is None:
                shown = self.known[name] = self.shown(name)
            if shown:
                return f"{shown}:{frame.f_lineno}"
            frame = frame.f_back
        return ""

    def shown(self, name: str) -> str:
        if name.startswith("<") or "site-packages" in name or "dist-packages" in name:
            return name if name.startswith(("<ipython", "<stdin>")) else ""
        if name.startswith(self.foreign):
            return ""
        script = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv and sys.argv[0] else self.folder
        for folder in (self.folder, script):
            if name.startswith(os.path.join(folder, "")):
                return os.path.relpath(name, folder)
        return name

    def of_error(self, error: BaseException) -> str:
        """`file:line` of the user's frame in which an exception was raised or passed through last."""
        found = ""
        trace = error.__traceback__
        while trace is not None:
            shown = self.shown(trace.tb_frame.f_code.co_filename)
            found = f"{shown}:{trace.tb_lineno}" if shown else found
            trace = trace.tb_next
        return found


OWN = 3  # references to a table of variables: the frame's, ours, and that of whoever counts them


def reference(thing: Any, gone: Callable[[Any], None] | None = None) -> Callable[[], Any]:
    """A weak reference, and `gone` is called when the thing is. Some things cannot have one (a tuple of
    JAX's states): those are held."""

    def call(freed: Any, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # What Python frees last is freed after our modules: their names are None, and it would print errors.
        if gone is not None and not ending():
            gone(freed)

    try:
        return weakref.ref(thing, call)
    except TypeError:
        return lambda: thing


def variables_of(frame: FrameType) -> Mapping[str, Any]:
    """Names and values in a function. Before Python 3.13 its table of them stays with the frame, and would
    hold what the function frees: it is emptied, unless the script itself has asked for it (`locals()`)."""
    there = frame.f_locals
    if type(there) is not dict or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return there
    found = dict(there)
    if sys.getrefcount(there) <= OWN:
        there.clear()
    return found


class LiveIds(set[int]):
    """Ids of objects that are alive: another object may get an id again, and is then not in here."""

    def __init__(self) -> None:
        super().__init__()
        self._references: dict[int, Callable[[], Any]] = {}

    def remember(self, thing: Any) -> None:
        """Add the id of a thing for as long as it lives."""
        place = id(thing)
        if place not in self:
            self.add(place)
            self._references[place] = reference(thing, lambda _: self._forget(place))

    def _forget(self, place: int) -> None:
        self.discard(place)
        self._references.pop(place, None)
