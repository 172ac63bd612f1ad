"""What surrounds a training loop: clipping, loss scaling, schedules, seeds, compilation."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from traindx.capture.session.events import Compiled, GradientsClipped, LossScaled, ScalerFound, StepSkipped
from traindx.capture.session.stream import Stream
from traindx.capture.torch.discover.wrappers import call_after, call_before

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
        replace(scaler, "step", self.scaler_step)
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

    def scaler_step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream, scene = self.stream, self.stream.scene

        def step(self: Any, optimizer: Any, *args: Any, **named: Any) -> Any:
            before = scene.steps
            result = original(self, optimizer, *args, **named)
            first = scene.primary in (None, id(optimizer))
            if scene.steps == before and first and self.is_enabled():
                stream.safely(stream.tell, StepSkipped())
            return result

        return step

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
