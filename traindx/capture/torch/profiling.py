"""Traces a few steps of a live training with torch.profiler. Only optimizer steps are hooked, so that the
trace shows the training and not its observer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.profiler import ProfilerAction, ProfilerActivity, profile

from traindx.capture.process.guard import say
from traindx.capture.session import REPLACED

SUFFIX = ".pt.trace.json.gz"


class Profiling:
    """Traces `steps` optimizer steps after the first `skip` and writes them to `path`; then calls `done`.
    Steps are counted of the optimizer that steps first, and of another once that one steps no more."""

    def __init__(self, path: Path, skip: int, steps: int, done: Callable[[int], None]) -> None:
        self.path, self.first, self.last, self.done = path, skip, skip + steps, done
        self.count, self.primary, self.others = 0, 0, 0
        self.profiler: Any = None
        self.written = False
        self.handle = register_optimizer_step_post_hook(self.stepped)
        if skip == 0:
            self.start()

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """After a step of any optimizer."""
        self.primary = self.primary or id(optimizer)
        if id(optimizer) != self.primary:
            self.others += 1
            if self.others <= REPLACED:
                return
            self.primary = id(optimizer)
        self.others = 0
        self.count += 1
        if self.profiler is not None:
            self.profiler.step()
        elif self.count == self.first:
            self.start()
        if self.count >= self.last:
            self.end()
            self.done(self.count)

    def start(self) -> None:
        """Begin to record with the step that comes now."""
        activities = [ProfilerActivity.CPU]
        activities += [ProfilerActivity.CUDA] if torch.cuda.is_available() else []
        begin, last = self.count, self.last

        def action(number: int) -> ProfilerAction:
            left = last - 1 - begin - number
            if left == 0:
                return ProfilerAction.RECORD_AND_SAVE
            return ProfilerAction.RECORD if left > 0 else ProfilerAction.NONE

        self.profiler = profile(
            activities=activities,
            schedule=action,
            on_trace_ready=self.write,
            profile_memory=torch.cuda.is_available(),
        )
        self.profiler.start()

    def write(self, profiler: Any) -> None:
        if self.written:
            return
        self.written = True
        try:
            profiler.export_chrome_trace(str(self.path))
        except OSError as error:  # a full disk: the script is ended as if it had been traced
            self.path.unlink(missing_ok=True)
            say(f"the trace could not be written ({error.strerror})")

    def end(self) -> None:
        """Stop, and write what was traced; nothing is left in the process."""
        self.handle.remove()
        profiler, self.profiler = self.profiler, None
        if profiler is not None:
            profiler.stop()
