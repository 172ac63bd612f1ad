"""In the script's process, for `traindx profile`: a trace of a few steps instead of a record of all."""

import atexit
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.capture.launch import diary
from traindx.capture.process.guard import say
from traindx.capture.process.ranks import rank_of_process
from traindx.capture.torch.profiling import SUFFIX, Profiling

PATIENCE = 20  # times that a script may catch the end before it is ended without asking


class Profiled:
    """The process of one rank while it is traced. `stop` is raised in the script after the last traced
    step."""

    def __init__(self, request: dict[str, Any], stop: Callable[[], BaseException]) -> None:
        self.out, self.stop, self.pid, self.ends = Path(request["out"]), stop, os.getpid(), 0
        skip, steps = request["profile"]
        rank = rank_of_process()
        self.path = self.out / f"rank-{rank}{SUFFIX}"
        self.profiling = Profiling(self.path, skip, steps, self.done)

    def done(self, steps: int) -> None:
        """End the script: all that was asked for has been traced."""
        if os.getpid() != self.pid:
            return
        if not self.ends:
            diary.write_stage(self.out, "profiled", steps=steps)
        self.ends += 1
        if self.ends > PATIENCE:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(0)
        raise self.stop()

    def end(self) -> None:
        """At the exit of the interpreter: what was traced of a script that ended by itself."""
        if os.getpid() != self.pid:
            return
        begun = self.profiling.profiler is not None
        try:
            self.profiling.end()
        except (
            OSError,
            RuntimeError,
        ) as error:  # a full disk; a profiler that the script itself has stopped
            say(f"the trace could not be written ({type(error).__name__}: {error})")
            return
        if not self.ends:
            diary.write_stage(self.out, "profiled" if begun else "short", steps=self.profiling.count)
