"""What stands around a loop: clipping, loss scaling, schedules, seeds, compilation."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from traindx.capture.session.events import Compiled, GradientsClipped, LossScaled, ScalerFound, StepSkipped
from traindx.capture.session.stream import Stream

PLANS = ("total_steps", "T_max", "total_iters")  # attributes of schedules that say how long they are


class Extras:
    """Wrappers of functions that are called once a step, or once."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.seeds: set[str] = set()
        self.scheduling = False  # a scheduler is being made, or steps those that it is made of
        self.scheduler_steps: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.most_steps = 0

    def attach(self) -> None:
        replace = self.stream.patches.replace
        for home in (torch.nn.utils, torch.nn.utils.clip_grad):
            replace(home, "clip_grad_norm_", self.clip)
            replace(home, "clip_grad_value_", self.clip_value)
        scaler = torch.amp.grad_scaler.GradScaler
        replace(scaler, "scale", self.scale)
        replace(scaler, "step", self.scaler_step)
        replace(torch.optim.lr_scheduler.LRScheduler, "__init__", self.schedule)
        replace(torch.optim.lr_scheduler.ReduceLROnPlateau, "__init__", self.schedule)
        for kind in schedulers():
            replace(kind, "step", self.scheduled)
        for home in (torch, torch.random):
            replace(home, "manual_seed", partial(self.seed, "torch"))
        replace(torch, "use_deterministic_algorithms", self.deterministic)
        replace(torch, "compile", self.compile)
        replace(torch.nn.Module, "compile", self.compile)
        for name in ("random", "numpy.random"):
            if name in sys.modules:
                replace(sys.modules[name], "seed", partial(self.seed, name.partition(".")[0]))
        self.stream.fact("seeds_set", "none")

    def clip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream = self.stream

        def clip_grad_norm_(parameters: Any, max_norm: float, *args: Any, **named: Any) -> Any:
            norm = original(parameters, max_norm, *args, **named)
            stream.safely(clipped, norm, max_norm)
            return norm

        def clipped(norm: Any, limit: Any) -> None:
            stream.line("clip")
            limit = float(limit)
            if limit != float("inf"):  # an infinite limit only asks for the norm
                stream.fact("clip_norm", limit)
                stream.tell(GradientsClipped(norm, limit))

        return clip_grad_norm_

    def clip_value(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream = self.stream

        def clip_grad_value_(parameters: Any, clip_value: float, *args: Any, **named: Any) -> Any:
            stream.safely(stream.fact, "clip_value", float(clip_value))
            return original(parameters, clip_value, *args, **named)

        return clip_grad_value_

    def scale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream = self.stream

        def scale(self: Any, outputs: Any) -> Any:
            scaled = original(self, outputs)
            stream.safely(told, self, outputs, scaled)
            return scaled

        def told(scaler: Any, outputs: Any, scaled: Any) -> None:
            session = stream.session() if scaler.is_enabled() else None
            if session is not None and isinstance(outputs, torch.Tensor):
                stream.tell(LossScaled(scaled, outputs))
                stream.tell(ScalerFound(scaler))

        return scale

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

    def schedule(self, original: Callable[..., None]) -> Callable[..., None]:
        stream = self.stream

        extras = self

        def __init__(self: Any, *args: Any, **named: Any) -> None:
            outermost, extras.scheduling = not extras.scheduling, True
            try:
                original(self, *args, **named)
            finally:
                extras.scheduling = not outermost
            stream.safely(describe, self)

        def describe(scheduler: Any) -> None:
            kind = type(scheduler).__name__
            if kind == "SequentialLR" or "schedule" not in stream.known:
                stream.fact("schedule", kind)
            for name in (*PLANS, "step_size", "gamma", "patience", "factor", "T_0", "milestones"):
                value = getattr(scheduler, name, None)
                if isinstance(value, int | float):
                    stream.fact(f"schedule/{name}", value)
            if kind == "OneCycleLR":
                stream.fact("planned_steps", scheduler.total_steps)
            stream.line("schedule")

        return __init__

    def scheduled(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Count the calls of `step` that the loop makes, of the scheduler that is called most."""
        stream, extras = self.stream, self

        def step(self: Any, *args: Any, **named: Any) -> Any:
            if extras.scheduling:
                return original(self, *args, **named)
            extras.scheduling = True
            try:
                return original(self, *args, **named)
            finally:
                extras.scheduling = False
                stream.safely(counted, self)

        def counted(scheduler: Any) -> None:
            count = extras.scheduler_steps[scheduler] = extras.scheduler_steps.get(scheduler, 0) + 1
            extras.most_steps = max(extras.most_steps, count)
            stream.fact("scheduler_steps", extras.most_steps)

        return step

    def seed(self, library: str, original: Callable[..., Any]) -> Callable[..., Any]:
        stream, seeds = self.stream, self.seeds

        def seed(*args: Any, **named: Any) -> Any:
            stream.safely(told, args[0] if args else next(iter(named.values()), None))
            return original(*args, **named)

        def told(value: Any) -> None:
            if not stream.lines.here(3):
                return  # a library seeds itself
            seeds.add(library)
            stream.fact("seeds_set", ", ".join(sorted(seeds)))
            if isinstance(value, int) and (library == "torch" or "seed" not in stream.known):
                stream.fact("seed", value)

        return seed

    def deterministic(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream = self.stream

        def use_deterministic_algorithms(mode: bool, *args: Any, **named: Any) -> Any:
            stream.safely(stream.fact, "deterministic", bool(mode))
            return original(mode, *args, **named)

        return use_deterministic_algorithms

    def compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream = self.stream

        def compile(model: Any = None, *args: Any, **named: Any) -> Any:
            stream.safely(told, model)
            return original(model, *args, **named)

        def told(model: Any) -> None:
            stream.fact("compiled", True)
            stream.tell(Compiled(not isinstance(model, torch.nn.Module)))

        return compile


def schedulers() -> list[type]:
    """PyTorch's schedulers that have a `step` of their own."""
    module = torch.optim.lr_scheduler
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and "step" in vars(kind)]
    return [kind for kind in kinds if issubclass(kind, (module.LRScheduler, module.ReduceLROnPlateau))]
