"""How often frameworks compile while a training runs, and how long that takes, as they count it themselves:
graphs of `torch.compile` (and their recompilations), programs that JAX gives to XLA, traces of
`tf.function`."""

import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

from traindx.capture.process.patches import Patches

TORCH, COMPILED = (
    "torch._dynamo.utils",
    "_compile.compile_inner",
)  # dynamo notes there how long compilations took
JAX, EVENT = "jax.monitoring", "/jax/core/compile/backend_compile_duration"
PLACE = re.compile(r"^\d+/\d+: |\s+# .*", re.DOTALL)  # of a reason: its graph, and the line of the guard
LONGEST = 200  # characters of a reason
TENSORFLOW, TRACED = (
    "tensorflow.python.eager.polymorphic_function.tracing_compilation",
    "_create_concrete_function",
)


class Compilations:
    """What was compiled since the last lap, by the frameworks that are loaded (none is, by asking). What JAX
    and TensorFlow compile while `ours` says that capture is at work is its own, and not counted; dynamo
    compiles what it was given, which capture gives nothing."""

    def __init__(self, ours: Callable[[], bool] = lambda: False) -> None:
        self._ours = ours
        self._count, self._seconds = 0, 0.0
        self._noted = 0  # of dynamo's own list
        self._patches = Patches()
        self._jax: Any = None
        self._traced = self._inside = False
        self.lap()

    def lap(self) -> tuple[int, float]:
        """(how many, seconds). Errors: none."""
        self._listen()
        self._from_torch()
        found = self._count, self._seconds
        self._count, self._seconds = 0, 0.0
        return found

    def _listen(self) -> None:
        if self._jax is None and JAX in sys.modules:
            self._jax = sys.modules[JAX]
            self._jax.register_event_duration_secs_listener(self._compiled_by_jax)
        if not self._traced and TENSORFLOW in sys.modules:
            self._traced = True
            self._patches.around(sys.modules[TENSORFLOW], TRACED, self._timed)

    def _from_torch(self) -> None:
        metrics = getattr(sys.modules.get(TORCH), "compilation_time_metrics", None)
        if not metrics or not isinstance(times := metrics.get(COMPILED), list):
            return
        self._noted = min(self._noted, len(times))  # `torch._dynamo.reset` may empty it
        self._count += len(times) - self._noted
        self._seconds += sum(times[self._noted :])
        self._noted = len(times)

    def _compiled_by_jax(self, event: str, seconds: float, **about: Any) -> None:
        if event == EVENT and not self._ours():
            self._count += 1
            self._seconds += seconds

    def _timed(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Traces of functions that are called within one are part of it."""
        if self._inside or self._ours():
            return original(*args, **named)
        self._inside, began = True, time.perf_counter()
        try:
            return original(*args, **named)
        finally:
            self._inside = False
            self._count += 1
            self._seconds += time.perf_counter() - began

    def facts(self) -> dict[str, str]:
        """Why something was compiled again the last time, in the words of dynamo, and the function, where it
        is not a module's call: `recompiled_for`."""
        entries: Any = getattr(sys.modules.get(TORCH), "get_compilation_metrics", list)()
        again = [(entry, why) for entry in entries if (why := getattr(entry, "recompile_reason", None))]
        if not again:
            return {}
        entry, why = again[-1]
        path, line = str(entry.co_filename), entry.co_firstlineno
        own = (
            ""
            if f"{os.sep}torch{os.sep}" in path
            else f" ({entry.co_name}, {os.path.basename(path)}:{line})"
        )
        return {"recompiled_for": PLACE.sub("", str(why)).strip()[:LONGEST] + own}

    def close(self) -> None:
        """Nothing is left in the frameworks."""
        self._patches.undo()
        forget = getattr(self._jax, "unregister_event_duration_listener", None)
        if forget is not None:
            forget(self._compiled_by_jax)
        self._jax, self._traced = None, True
