"""What surrounds a training loop: clipping, loss scaling, schedules, seeds, compilation, and lines at which
it waits for its accelerator, because they read numbers or tensors from it.

Kernels are launched ahead of the accelerator. Reading a number blocks the host until all of them are done.
During some windows of steps, ever further apart, the methods of tensors that copy values to the host are
wrapped. Their calls are counted by line, and timed. This is done only where the loss is on an accelerator.
Where something is compiled nothing is wrapped, as the compiler looks these methods up."""

import sys
import time
import weakref
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from traindx.capture.process.patches import Patches
from traindx.capture.session import Stream
from traindx.capture.session.events import (
    Compiled,
    GradientsClipped,
    LossDifferentiated,
    LossScaled,
    MetricLogged,
    ScalerFound,
    StepDue,
    StepSkipped,
)
from traindx.capture.torch.discover.wrappers import call_after, call_before
from traindx.capture.torch.hooks import is_tracing

SCHEDULE_SETTINGS = (
    "total_steps", "T_max", "total_iters", "step_size", "gamma", "patience", "factor", "T_0", "milestones",
)  # fmt: skip


class Extras:
    """Wrappers of functions that are called once a step, or once."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.seeds: set[str] = set()
        self.scheduling = False  # inside a scheduler, which may call others
        self.scheduler_steps: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.most_steps = 0

    def attach(self) -> None:
        stream, replace = self.stream, self.stream.patches.replace
        for home in (torch.nn.utils, torch.nn.utils.clip_grad):
            replace(home, "clip_grad_norm_", call_after(stream, self.clip_norm))
            replace(home, "clip_grad_value_", call_before(stream, self.clip_value))
        scaler = torch.amp.grad_scaler.GradScaler
        replace(scaler, "scale", call_after(stream, self.scale))
        self.stream.patches.around(scaler, "step", self.scaler_step)
        kinds = torch.optim.lr_scheduler
        for kind in (kinds.LRScheduler, kinds.ReduceLROnPlateau):
            replace(kind, "__init__", partial(self.within_scheduler, self.describe_schedule, True))
        for kind in schedulers():
            replace(kind, "step", partial(self.within_scheduler, self.count_schedule, False))
        for home in (torch, torch.random):
            replace(home, "manual_seed", call_before(stream, partial(self.seed, "torch")))
        replace(torch, "use_deterministic_algorithms", call_before(stream, self.deterministic))
        replace(torch, "compile", call_before(stream, self.compile))
        replace(torch.nn.Module, "compile", call_before(stream, self.compile))
        for name in ("random", "numpy.random"):
            if name in sys.modules:
                seed = partial(self.seed, name.partition(".")[0])
                replace(sys.modules[name], "seed", call_before(stream, seed))
        stream.fact("seeds_set", "none")

    def clip_norm(self, norm: Any, parameters: Any, max_norm: Any, *_args: Any, **_named: Any) -> None:
        self.stream.line("clip")
        limit = float(max_norm)
        if limit != float("inf"):  # an infinite limit only asks for the norm
            self.stream.fact("clip_norm", limit)
            self.stream.tell(GradientsClipped(norm, limit))

    def clip_value(self, parameters: Any, clip_value: float, *_args: Any, **_named: Any) -> None:
        self.stream.fact("clip_value", float(clip_value))

    def scale(self, scaled: Any, scaler: Any, outputs: Any) -> None:
        session = self.stream.session() if scaler.is_enabled() else None
        if session is not None and isinstance(outputs, torch.Tensor):
            self.stream.tell(LossScaled(scaled, outputs))
            self.stream.tell(ScalerFound(scaler))

    def scaler_step(
        self, original: Callable[..., Any], scaler: Any, optimizer: Any, *args: Any, **named: Any
    ) -> Any:
        before = self.stream.scene.steps
        result = original(scaler, optimizer, *args, **named)
        first = self.stream.scene.primary in (None, id(optimizer))
        if self.stream.scene.steps == before and first and scaler.is_enabled():
            self.stream.safely(self.stream.tell, StepSkipped())
        return result

    def within_scheduler(
        self, hook: Callable[[Any], None], nested: bool, original: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Call `hook` after a method of a scheduler. Schedulers call each other: without `nested`, only
        after the calls that the script itself makes."""
        extras = self

        def method(self: Any, *args: Any, **named: Any) -> Any:
            outermost, extras.scheduling = not extras.scheduling, True
            try:
                result = original(self, *args, **named)
            finally:
                extras.scheduling = not outermost
            if outermost or nested:
                extras.stream.safely(hook, self)
            return result

        return method

    def describe_schedule(self, scheduler: Any) -> None:
        kind = type(scheduler).__name__
        if kind == "SequentialLR" or "schedule" not in self.stream.known:
            self.stream.fact("schedule", kind)
        for name in SCHEDULE_SETTINGS:
            value = getattr(scheduler, name, None)
            if isinstance(value, int | float):
                self.stream.fact(f"schedule/{name}", value)
        if kind == "OneCycleLR":
            self.stream.fact("planned_steps", scheduler.total_steps)
        self.stream.line("schedule")

    def count_schedule(self, scheduler: Any) -> None:
        """Count the steps of the scheduler that steps most."""
        count = self.scheduler_steps[scheduler] = self.scheduler_steps.get(scheduler, 0) + 1
        self.most_steps = max(self.most_steps, count)
        self.stream.fact("scheduler_steps", self.most_steps)

    def seed(self, library: str, *args: Any, **named: Any) -> None:
        if not self.stream.lines.here(3):
            return  # a library seeds itself
        self.seeds.add(library)
        self.stream.fact("seeds_set", ", ".join(sorted(self.seeds)))
        value = args[0] if args else next(iter(named.values()), None)
        if isinstance(value, int) and (library == "torch" or "seed" not in self.stream.known):
            self.stream.fact("seed", value)

    def deterministic(self, mode: bool, *_args: Any, **_named: Any) -> None:
        self.stream.fact("deterministic", bool(mode))

    def compile(self, model: Any = None, *_args: Any, **_named: Any) -> None:
        self.stream.fact("compiled", True)
        self.stream.tell(Compiled(not isinstance(model, torch.nn.Module)))


def schedulers() -> list[type]:
    """PyTorch's schedulers that have a `step` of their own."""
    module = torch.optim.lr_scheduler
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and "step" in vars(kind)]
    return [kind for kind in kinds if issubclass(kind, (module.LRScheduler, module.ReduceLROnPlateau))]


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
                self.patches.around(home, "synchronize", self.synchronizing)

    def disarm(self) -> None:
        self.armed = False
        self.patches.undo()

    def report(self) -> None:
        """The lines that wait most often."""
        self.stream.fact("synchronized_at", ", ".join(line for line, _ in self.lines.most_common(NAMED)))

    def reading(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        waits = self

        def read(self: torch.Tensor, *args: Any, **named: Any) -> Any:
            if self.is_cpu or waits.is_ignored_read():
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

    def synchronizing(self, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        began = time.perf_counter()
        found = original(*args, **named)
        if not self.is_ignored_read():
            self.stream.safely(self.count_wait, "synchronize", time.perf_counter() - began)
        return found

    def is_ignored_read(self) -> bool:
        """Whether a read is inside one that is counted already, capture's own, or not part of the
        training."""
        session = self.stream.opened
        return (
            self.inside or session is None or session.clock.within or self.stream.elsewhere() or is_tracing()
        )

    def count_wait(self, name: str, seconds: float) -> None:
        place = self.stream.lines.here(3)
        self.count, self.seconds = self.count + 1, self.seconds + seconds
        self.lines[f"{place} ({name})" if place else name] += 1
