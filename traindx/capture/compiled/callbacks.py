"""What the host does in the callbacks of a compiled step."""

import ctypes
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from traindx.capture.session import STOPPED, Stream


class StopTraining(SystemExit):
    """Raised in the script's main thread after the last step that was asked for. The interpreter makes it without
    arguments, so the exit status is that of the class."""


class StopTrainingOn(StopTraining):
    """The same, by --stop-on."""

    code = STOPPED


@dataclass(frozen=True)
class HostCallback:
    """Calls `hook(*about, *values)` with the values that a step sends. Two callbacks with equal hooks are
    equal: they are part of a cached computation, which another object would compile anew."""

    stream: Stream
    hook: Callable[..., Any]
    about: tuple[Any, ...] = ()

    def __call__(self, *values: Any) -> Any:
        if not self.stream.active:
            return None
        try:
            return self.hook(*self.about, *values)
        except Exception as error:  # noqa: BLE001 - raised in a callback it would be an error of the training
            self.stream.failed(self.hook.__name__, error)
            return None


def count_step(stream: Stream, step: int) -> None:
    """A step was made. After the last one the main thread is stopped, as nothing may be raised in a
    callback."""
    try:
        stream.after_step(step)
    except SystemExit as asked:
        kind = StopTrainingOn if asked.code else StopTraining
        if threading.current_thread() is threading.main_thread():
            stop_at_next_line(kind)
            return
        main = ctypes.c_ulong(threading.main_thread().ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(kind))


def stop_at_next_line(
    kind: type[StopTraining], libraries: Sequence[str] = ("jax", "optax", "sitecustomize", "traindx")
) -> None:
    """Small steps call back in the thread that runs the script. An exception raised here would be reported
    by XLA as an error of the step. As a debugger does, raise it at the next line of the script instead. At
    the script's exit (`sitecustomize`) there is no such line."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in libraries:
        frame = frame.f_back

    def stop(_frame: FrameType, _event: str, _argument: object) -> None:
        sys.settrace(None)
        raise kind

    if frame is not None:
        frame.f_trace = stop
        sys.settrace(lambda *_: None)
