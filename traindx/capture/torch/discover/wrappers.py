"""Thin wrappers around functions of PyTorch that call a hook with what the function was called with."""

from collections.abc import Callable
from typing import Any

from traindx.capture.process.patches import Make
from traindx.capture.session import Stream

Hook = Callable[..., None]


def call_before(stream: Stream, hook: Hook) -> Make:
    """`hook(*args, **named)` is called before the function, and never raises into it."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **named: Any) -> Any:
            stream.safely(hook, *args, **named)
            return original(*args, **named)

        return wrapper

    return make


def call_after(stream: Stream, hook: Hook) -> Make:
    """`hook(result, *args, **named)` is called after the function, and never raises into it."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **named: Any) -> Any:
            result = original(*args, **named)
            stream.safely(hook, result, *args, **named)
            return result

        return wrapper

    return make
