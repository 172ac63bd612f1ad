"""Capture never stops the training it watches, and no failure but one to write ends the recording: what
fails is reported once, and left out."""

import contextvars
import functools
import sys
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np

NO_MEMORY = ("out of memory", "can't allocate memory", "Cannot allocate memory")
UNWRITABLE = (OSError, MemoryError)  # failures after which nothing can be recorded
ONCE, FROM_HERE = "could not be measured at step {}", "not measured from step {} on"
MOST_WORDS = 300  # characters of an error that are printed
OLD_NUMPY = int(np.__version__.split(".")[0]) < 2
Given = ParamSpec("Given")
Result = TypeVar("Result")


class Stopwatch(Protocol):
    """Stops between `enter` and `leave`; `enter` returns False where it is stopped already."""

    @property
    def within(self) -> bool:
        """Whether it is stopped."""

    def enter(self) -> bool:
        """Stop. False where it is stopped already."""

    def leave(self) -> None:
        """Go on."""


class Fallible(Protocol):
    """What can be guarded: it has an on/off state, a clock that is stopped while it is at work, and
    a way to give up."""

    active: bool

    @property
    def clock(self) -> Stopwatch:
        """Stopped while the guarded method runs."""

    def leave_out(self, what: str, error: Exception, how: str) -> None:
        """A measurement failed: report that once, and go on without it."""

    def failed(self, where: str, error: Exception) -> None:
        """The record cannot be written: end the recording."""


Self = TypeVar("Self", bound=Fallible)


def guard_method(
    method: Callable[Concatenate[Self, Given], None],
) -> Callable[Concatenate[Self, Given], None]:
    """A method that does nothing once its object is inactive, that hands any exception to `leave_out` (or
    `failed`, where a record cannot be written) instead of to the training loop that called it, and whose
    time is no part of the training's."""

    @functools.wraps(method)
    def inner(self: Self, *args: Given.args, **kwargs: Given.kwargs) -> None:
        if not self.active:
            return
        clock = self.clock
        # Most methods are called by a hook that has stopped the clock already.
        outermost = not clock.within and clock.enter()
        try:
            if outermost:
                without_warnings(method, self, *args, **kwargs)
            else:
                method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the one place where whatever is raised must not go on
            if isinstance(error, UNWRITABLE):
                self.failed(method.__name__, error)
            else:
                self.leave_out(method.__name__.replace("_", " "), error, ONCE)
        finally:
            if outermost:
                clock.leave()

    return cast(Callable[Concatenate[Self, Given], None], inner)


_quiet: dict[int, contextvars.Context] = {}  # by thread: no context may be entered twice at a time


def without_warnings(
    function: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """Call a function with numpy's floating-point warnings off: overflow is looked for, and is no
    matter for the user's stderr. numpy 2 keeps that setting in the context of the thread. To have one
    at hand costs nothing; `errstate` takes 25 microseconds when nothing of it is in the caches."""
    if OLD_NUMPY:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)
    context = _quiet.get(threading.get_ident())
    if context is None:
        context = _quiet[threading.get_ident()] = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
    return context.run(function, *args, **kwargs)


def error_line(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {str(error)[:MOST_WORDS]}"


def say(message: str) -> None:
    """One line on the error stream; a closed stream is no reason to stop a training."""
    try:
        print(f"traindx: {message}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        return


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether a failure is one of memory: Python's, an accelerator's, or that of PyTorch's allocator on the
    host, which is a RuntimeError."""
    named = isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__
    return named or any(words in str(error) for words in NO_MEMORY)
