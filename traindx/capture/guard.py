"""Capture never stops the training it watches: what fails is said once, and capture lets go."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np

Given = ParamSpec("Given")


class Fallible(Protocol):
    """What can be guarded: it has an on/off state and a way to let go of everything."""

    active: bool

    def failed(self, where: str, error: Exception) -> None: ...


Self = TypeVar("Self", bound=Fallible)


def guarded(method: Callable[Concatenate[Self, Given], None]) -> Callable[Concatenate[Self, Given], None]:
    """A method that does nothing once its object is inactive, and that hands any exception to
    `failed` instead of to the training loop that called it."""

    @functools.wraps(method)
    def inner(self: Self, *args: Given.args, **kwargs: Given.kwargs) -> None:
        if not self.active:
            return
        try:
            with np.errstate(all="ignore"):  # overflow is looked for, and is no matter for the user's stderr
                method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the one place where whatever is raised must not go on
            self.failed(method.__name__, error)

    return cast(Callable[Concatenate[Self, Given], None], inner)


def say(message: str) -> None:
    """One line on the error stream; a closed stream is no reason to stop a training."""
    try:
        print(f"traindx: {message}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        return
