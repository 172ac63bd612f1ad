"""Lines at which a loop waits for its accelerator, because they read numbers or tensors from it.

Kernels are launched ahead of the accelerator. Reading a number blocks the host until all of them are done.
During some windows of steps, ever further apart, the methods of tensors that copy values to the host are
wrapped. Their calls are counted by line, and timed. This is done only where the loss is on an accelerator.
Where something is compiled nothing is wrapped, as the compiler looks these methods up."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from traindx.capture.process.patches import Patches
from traindx.capture.session.events import Compiled, LossDifferentiated, MetricLogged, StepDue
from traindx.capture.session.stream import Stream
from traindx.capture.torch.hooks import traced

FIRST, COUNTED, GROWTH = (
    10,
    30,
    8,
)  # steps before the first window, steps of a window, and its start over the last one's
READS = ("item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__repr__", "cpu", "to")
MOVES = ("cpu", "to")  # these wait only if the result is on the host, and not with `non_blocking`
NAMED = 3  # lines in the fact


class Waits:
    """Counts in windows of steps."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.patches = stream, Patches()
        self.away = self.compiled = self.inside = self.armed = False
        self.next, self.until = FIRST, 0
        self.count, self.seconds = 0, 0.0
        self.lines: Counter[str] = Counter()

    def attach(self) -> None:
        self.stream.hear(LossDifferentiated, self.differentiated)
        self.stream.hear(Compiled, self.compiles)
        self.stream.hear(StepDue, self.step_due)
        self.stream.ends.append(self.disarm)

    def compiles(self, _event: Compiled) -> None:
        self.compiled = True
        self.disarm()

    def differentiated(self, event: LossDifferentiated) -> None:
        self.away = not event.loss.is_cpu

    def step_due(self, event: StepDue) -> None:
        """A step is about to be made, after `scene.steps` others."""
        scene = self.stream.scene
        if id(event.optimizer) != scene.primary:
            return
        if self.armed:
            self.stream.tell(MetricLogged("calls/synchronize", float(self.count)))
            self.stream.tell(MetricLogged("time/synchronize", self.seconds))
            self.count, self.seconds = 0, 0.0
            if scene.steps >= self.until:
                self.disarm()
                self.report()
        elif self.away and scene.steps >= self.next and not self.compiled:
            self.until, self.next = scene.steps + COUNTED, GROWTH * max(scene.steps, FIRST)
            self.arm()

    def arm(self) -> None:
        self.armed = True
        for name in READS:
            self.patches.replace(torch.Tensor, name, partial(self.reading, name))
        for home in (torch.cuda, getattr(torch, "accelerator", None)):
            if home is not None:
                self.patches.replace(home, "synchronize", self.synchronizing)

    def disarm(self) -> None:
        self.armed = False
        self.patches.undo()

    def report(self) -> None:
        """The lines that wait most often."""
        self.stream.fact("synchronized_at", ", ".join(line for line, _ in self.lines.most_common(NAMED)))

    def reading(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        waits = self

        def read(self: torch.Tensor, *args: Any, **named: Any) -> Any:
            if self.is_cpu or waits.ignores():
                return original(self, *args, **named)
            waits.inside, began = True, time.perf_counter()
            try:
                found = original(self, *args, **named)
            finally:
                waits.inside = False
            if name not in MOVES or (found.is_cpu and not named.get("non_blocking")):
                waits.stream.safely(waits.count_wait, name.strip("_"), time.perf_counter() - began)
            return found

        return read

    def synchronizing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        waits = self

        def synchronize(*args: Any, **named: Any) -> Any:
            began = time.perf_counter()
            found = original(*args, **named)
            if not waits.ignores():
                waits.stream.safely(waits.count_wait, "synchronize", time.perf_counter() - began)
            return found

        return synchronize

    def ignores(self) -> bool:
        """Whether a read is inside one that is counted already, capture's own, or not part of the
        training."""
        session = self.stream.opened
        return self.inside or session is None or session.clock.within or self.stream.elsewhere() or traced()

    def count_wait(self, name: str, seconds: float) -> None:
        place = self.stream.lines.here(3)
        self.count, self.seconds = self.count + 1, self.seconds + seconds
        self.lines[f"{place} ({name})" if place else name] += 1
