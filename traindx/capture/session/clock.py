"""Where the time of a step goes, and the memory in use."""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from traindx.capture.process.compilations import Compilations

# Seconds between readings of the memory in use: a share of the time so far, so that a short run shows a
# trend, too.
MEMORY_SHARE, MEMORY_SOONEST, MEMORY_EVERY = 0.025, 0.01, 0.25
GROWN = 1.1  # beyond this multiple of the level after the last trim, freed memory may be part of it
# A trim makes the next step ask for the memory again: seconds for each byte (measured: 0.7 microseconds for a page of
# 4 KiB at best, 3 in a virtual machine). Trims may take this share of the time, and come this much later each time.
REFILLED, TRIM_SHARE, TRIM_LATER = 5e-10, 0.005, 1.5
SCHEDULED = (
    "/proc/thread-self/schedstat"  # nanoseconds on a processor, nanoseconds ready and without one, turns
)
NANO = 1e-9


class Queued:
    """Seconds in which this thread was ready to run and other processes had the processors. What a step
    takes beyond its own work on a busy machine is there, and not in the training."""

    def __init__(self) -> None:
        self._file: int | None = None
        self._of = (0, 0)
        self._last: int | None = None

    def lap(self) -> float | None:
        """Seconds since the last lap. None at the first, in another thread than before, and where Linux does
        not report them."""
        me = (
            os.getpid(),
            threading.get_native_id(),
        )  # Python gives the identity of an ended thread to a later one
        if me != self._of:
            self._of, self._last = me, None
            self.close()
            try:
                self._file = os.open(SCHEDULED, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                self._file = None
        if self._file is None:
            return None
        try:
            words = os.pread(self._file, 100, 0).split()
        except ProcessLookupError:  # of a thread that has ended, whose number this one was given
            self._of = (0, 0)
            return None
        before, self._last = self._last, int(words[1]) if len(words) == 3 else None
        return None if before is None or self._last is None else (self._last - before) * NANO

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Clock:
    """The training's own time, in seconds: the clock stops while capture is at work (between `enter` and
    `leave`). It sums the phases of the current step, which `lap` closes."""

    def __init__(
        self,
        now: Callable[[], float] = time.perf_counter,
        queued: Queued | None = None,
        compiled: Compilations | None = None,
    ) -> None:
        self.now, self.queued, self.compiled = now, queued, compiled
        self.own = 0.0  # spent in capture so far
        self._entered: float | None = None
        self.within = False  # whether capture is at work
        self.apart: Callable[[], AbstractContextManager[object]] = (
            nullcontext  # entered while capture is at work
        )
        self._aside: AbstractContextManager[object] | None = None
        self._began: dict[str, float] = {}
        self._sums: dict[str, float] = {}
        self._last: float | None = None
        self._started: float | None = None  # when the first phase began
        self.first: float | None = None  # seconds from there to the end of the first step
        self._memory_due, self._memory_since = 0.0, 0.0
        self._trimmed = 0.0  # bytes in use after freed memory was last returned to the system
        self._highest, self._trim_due = 0.0, 0.0  # bytes before such a return, at most; when the next is due
        self.interrupted = False  # something else (validation) happened within the step
        self.seconds_timed = 0.0  # sum of the timed phases of the last step; 0 at the first, which is slower
        self.untimed = False  # what is timed are reports of steps, or several steps
        self.anew = False  # the step's function is another than before, which is compiled by nature

    def enter(self) -> bool:
        """Capture is at work from here on. False where it was already: then `leave` is not called."""
        if self.within:
            return False
        self.within = True
        self._entered = self.now()
        self._aside = self.apart()
        self._aside.__enter__()
        return True

    def leave(self) -> None:
        if self._entered is not None:
            if self._aside is not None:
                self._aside.__exit__(None, None, None)
            self.own += self.now() - self._entered
            self._entered = self._aside = None
            self.within = False

    def at(self) -> float:
        """The time now, without what capture has taken."""
        return (self.now() if self._entered is None else self._entered) - self.own

    def begin(self, phase: str) -> None:
        at = self._began[phase] = self.at()
        if self._started is None:
            self._started = at

    def end(self, phase: str) -> None:
        began = self._began.pop(phase, None)
        if began is not None:
            self.add(phase, self.at() - began)

    def add(self, phase: str, seconds: float) -> None:
        self._sums[phase] = self._sums.get(phase, 0.0) + seconds
        if self._started is None:
            self._started = self.at() - seconds

    def guess(self, phase: str, seconds: float) -> None:
        """A phase that nobody timed: what is known of it from the phases around it."""
        self._sums.setdefault(phase, seconds)

    def lap(self) -> dict[str, float]:
        """The phases of the step that ends now, as signals; `time/step` from the second step on, and not
        where something else happened in between; what was compiled only where anything was, and the step's
        function is the one of the step before."""
        at = self.at()
        out = {f"time/{phase}": max(0.0, seconds) for phase, seconds in self._sums.items()}
        self.seconds_timed = 0.0 if self._last is None else sum(out.values())
        queued = None if self.queued is None else self.queued.lap()
        if self._last is None and self._started is not None:
            self.first = at - self._started
        if self._last is not None and not self.interrupted:
            out["time/step"] = max(0.0, at - self._last)
            if queued is not None:
                out["time/queued"] = min(queued, out["time/step"])
        if self.compiled is not None and (found := self.compiled.lap())[0] and not self.anew:
            out["calls/compile"], out["time/compile"] = found
        self._last, self._sums, self.interrupted, self.anew = at, {}, False, False
        return out

    def shown(self, scalars: dict[str, Any]) -> dict[str, Any]:
        """The signals of a step, without times that are not those of a step."""
        kinds = ("time/", "throughput") if self.untimed else ()
        return {name: value for name, value in scalars.items() if not name.startswith(kinds)}

    def facts(self) -> dict[str, float | str]:
        """How long the first step took, from its first phase on: `time/step` does not have it. Why something
        was compiled again."""
        compiled = {} if self.compiled is None else self.compiled.facts()
        return {**compiled, **({} if self.first is None else {"first_step_seconds": round(self.first, 4)})}

    def close(self) -> None:
        if self.queued is not None:
            self.queued.close()
        if self.compiled is not None:
            self.compiled.close()

    def memory(self, device: Callable[[], float | None] | None, out: dict[str, Any]) -> None:
        """Put the memory in use into `out`, four times a second, at first more often. `device` returns that
        of the accelerator, where there is one."""
        now = self.now()
        if now < self._memory_due:
            return
        self._memory_since = self._memory_since or now
        apart = MEMORY_SHARE * (now - self._memory_since)
        self._memory_due = now + min(max(apart, MEMORY_SOONEST), MEMORY_EVERY)
        resident = host_memory()
        if resident is None and device is None:
            self._memory_due = float("inf")  # not known, and not asked for again
        elif resident is not None and (in_use := self._in_use(resident, now)) is not None:
            out["mem/host"] = in_use
        used = None if device is None else device()
        if used is not None:
            out["mem/device"] = used

    def _in_use(self, resident: float, now: float) -> float | None:
        """Bytes in use, of so many in memory. Freed memory is returned for it where that much is new, or from time to
        time; None where it is neither: how much of it is in use is not known."""
        if resident <= GROWN * self._trimmed:
            return resident
        if resident <= GROWN * self._highest and now < self._trim_due:
            return None
        trim()
        self._highest = max(self._highest, resident)
        self._trimmed = host_memory() or 0.0
        takes = REFILLED * (resident - self._trimmed)
        self._trim_due = now + min(takes / TRIM_SHARE, (TRIM_LATER - 1) * (now - self._memory_since))
        return self._trimmed


def live_clock(apart: Callable[[], AbstractContextManager[object]]) -> Clock:
    """A clock that also measures how long a step waited for a processor, and what was compiled in it."""
    clock = Clock(queued=Queued())
    clock.apart = apart
    clock.compiled = Compilations(lambda: clock.within)
    return clock


def trim() -> None:
    """Return freed memory to the system. glibc keeps it where something small lies above it, which looks like a
    leak: 250 MB in 190 steps of a small language model. Other C libraries have nothing to call."""
    release = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if release is not None:
        release(0)


def host_memory() -> float | None:
    """Bytes of this process in memory; None where Linux does not report them."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None
    try:
        return float(os.read(file, 200).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(file)
