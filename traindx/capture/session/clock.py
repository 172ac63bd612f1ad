"""Where the time of a step goes, and how batches, backward passes and steps relate."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from traindx.vocabulary.setup import Fact

# Seconds between looks at the memory in use: a share of the time so far, so that a short run shows a trend too.
MEMORY_SHARE, MEMORY_SOONEST, MEMORY_EVERY = 0.025, 0.01, 0.25


class Clock:
    """The training's own time: it stands still while capture is at work (between `enter` and
    `leave`). Sums the phases of the current step; `lap` closes it. All in seconds."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.now = now
        self.own = 0.0  # spent in capture so far
        self._entered: float | None = None
        self._began: dict[str, float] = {}
        self._sums: dict[str, float] = {}
        self._last: float | None = None
        self._memory_due, self._memory_since = 0.0, 0.0
        self.interrupted = False  # something else (validation) happened within the step

    def enter(self) -> bool:
        """Capture is at work from here on. False where it was already: then `leave` is not called."""
        if self._entered is not None:
            return False
        self._entered = self.now()
        return True

    def leave(self) -> None:
        if self._entered is not None:
            self.own += self.now() - self._entered
            self._entered = None

    def at(self) -> float:
        """The time now, without what capture has taken."""
        return (self.now() if self._entered is None else self._entered) - self.own

    def begin(self, phase: str) -> None:
        self._began[phase] = self.at()

    def end(self, phase: str) -> None:
        began = self._began.pop(phase, None)
        if began is not None:
            self.add(phase, self.at() - began)

    def add(self, phase: str, seconds: float) -> None:
        self._sums[phase] = self._sums.get(phase, 0.0) + seconds

    def guess(self, phase: str, seconds: float) -> None:
        """A phase that nobody timed: what is known of it from the phases around it."""
        self._sums.setdefault(phase, seconds)

    def lap(self) -> dict[str, float]:
        """The phases of the step that ends now, as signals; `time/step` from the second step on,
        and not where something else happened in between."""
        at = self.at()
        out = {f"time/{phase}": max(0.0, seconds) for phase, seconds in self._sums.items()}
        if self._last is not None and not self.interrupted:
            out["time/step"] = max(0.0, at - self._last)
        self._last, self._sums, self.interrupted = at, {}, False
        return out

    def memory(self, device: bool, out: dict[str, Any]) -> None:
        """Put the memory in use into `out`, four times a second, at first more often (asking a device's
        allocator does not wait for it)."""
        now = self.now()
        if now < self._memory_due:
            return
        self._memory_since = self._memory_since or now
        apart = MEMORY_SHARE * (now - self._memory_since)
        self._memory_due = now + min(max(apart, MEMORY_SOONEST), MEMORY_EVERY)
        resident = host_memory()
        if resident is not None:
            out["mem/host"] = resident
        elif not device:
            self._memory_due = float("inf")  # not known, and not asked for again
        if device:
            import torch

            if torch.cuda.is_available():
                out["mem/device"] = float(torch.cuda.memory_allocated())


def host_memory() -> float | None:
    """Bytes of this process in memory; None where that is not Linux's to tell."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None
    try:
        return float(os.read(file, 200).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(file)


class Habits:
    """How the loop is written: backward passes a step, zeroed gradients, modes."""

    def __init__(self) -> None:
        self.backwards, self.steps = 0, 0  # since the last step; optimizer steps
        self.total_backwards, self.told_steps = 0, 0  # steps whose backward passes were told
        self.missing_zero, self.checked_zero = 0, 0
        self.eval_steps, self.forwards = 0, 0
        self.held_out, self.held_out_training = 0, 0
        self.zero_grads = 0
        self.samples = 0
        self.batch_size = 0.0

    def backward(self, stale: bool | None) -> None:
        """A backward pass begins; `stale`: the first one since a step finds gradients there."""
        if stale is not None and self.steps and not self.backwards:
            self.checked_zero += 1
            self.missing_zero += stale
        self.backwards += 1
        self.total_backwards += 1

    def step(self) -> float:
        """An optimizer step is over; returns the samples that went into it (0: not known)."""
        self.steps += 1
        self.told_steps += self.backwards > 0
        samples, self.samples, self.backwards = self.samples, 0, 0
        self.batch_size = max(self.batch_size, samples)
        return samples

    def forward(self, grad: bool, training: bool, tells: bool) -> None:
        """A pass of the whole model; `tells`: it has modules that differ between the modes."""
        if grad:
            self.forwards += 1
            self.eval_steps += not training
        elif tells:
            self.held_out += 1
            self.held_out_training += training

    def facts(self) -> dict[str, Fact]:
        out: dict[str, Fact] = {}
        if self.steps:
            out["optimizer_steps"] = self.steps
            if self.told_steps:
                out["backwards_per_step"] = round(self.total_backwards / self.told_steps, 3)
        if self.total_backwards and not self.steps:
            out["backwards_without_step"] = self.total_backwards
        if self.checked_zero:
            out["zero_grad_missing_steps"] = self.missing_zero
            out["zero_grad_checked_steps"] = self.checked_zero
        if self.forwards:
            out["model_training_mode_during_backward"] = self.eval_steps * 2 < self.forwards
            out["steps_in_eval_mode_share"] = self.eval_steps / self.forwards
        if self.held_out:
            out["validation_in_train_mode_share"] = self.held_out_training / self.held_out
        if self.batch_size:
            out["batch_size"] = float(self.batch_size)
        return out


def number(value: Any) -> Any:
    """A number for a row: a float at once when it is at hand, a tensor that is fetched later when it
    lies on an accelerator (a copy: the loop may write over its own). None when it is none."""
    if hasattr(value, "detach"):
        if value.is_cpu:  # not `device.type`, which makes two objects: 20 microseconds amid a training
            return float(value.item()) if value.numel() == 1 else None
        return value.detach().clone().reshape(()) if value.numel() == 1 else None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
