"""What a step of a traced training does with its time, step by step."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from traindx.features.performance.intervals import (
    Nested,
    Stretches,
    bridge_gaps,
    covered_time,
    exclusive,
    gaps_between,
    nest_calls,
    sums,
    union,
)
from traindx.readers.traces.events import Table
from traindx.vocabulary import Floats, Ints

STEP, LOADER, OPTIMIZER = (
    "ProfilerStep",
    "enumerate(DataLoader)",
    ("Optimizer.step#", "Optimizer.zero_grad#"),
)
BACKWARD = "autograd::engine::evaluate_function"
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "hipStreamSynchronize",
         "hipDeviceSynchronize", "hipEventSynchronize")  # fmt: skip
MARKS = (STEP, LOADER, *OPTIMIZER, BACKWARD)
COLLECTIVE = ("nccl", "rccl", "gloo:", "nccl:")
TOP = 20  # operators and kernels that are listed by name


@dataclass(frozen=True)
class Split:
    """A trace and its steps. All times in seconds."""

    table: Table

    @cached_property
    def host(self) -> Ints:
        return self.table.rows_of_kind("host")

    @cached_property
    def windows(self) -> Stretches:
        """The steps: the profiler's own, or from one step of the optimizer to the next, or the trace as
        one."""
        table, marks = self.table, self.table.named(self.host, STEP)
        optimizer = table.named(self.host, OPTIMIZER[0])
        if len(marks):
            found = self.table.stretches(marks)
            at = np.sort(table.starts[optimizer])
            worked = np.searchsorted(at, found.stops) > np.searchsorted(at, found.starts)
            return Stretches(found.starts[worked], found.stops[worked]) if worked.any() else found
        begin, end = float(table.starts.min(initial=0.0)), float(table.stops.max(initial=0.0))
        if len(optimizer):
            names, counts = np.unique(table.name[optimizer], return_counts=True)
            stops = np.sort(table.stops[optimizer[table.name[optimizer] == names[counts.argmax()]]])
            return Stretches(np.append(begin, stops[:-1]), stops)
        return Stretches(np.array([begin]), np.array([end]))

    @cached_property
    def numbers(self) -> Floats:
        """The steps' numbers: the profiler's, or 0, 1, 2 ..."""
        marks = self.table.named(self.host, STEP)
        numbers = {
            float(self.table.starts[i]): self.table.names[self.table.name[i]].partition("#")[2]
            for i in marks
        }
        words = [numbers.get(float(start), "") for start in self.windows.starts]
        if words and all(word.isdecimal() and len(word) < 16 for word in words):
            return np.array([float(word) for word in words])
        return np.arange(len(words), dtype=np.float64)

    @cached_property
    def calls(self) -> Nested:
        """Of every row of `host`: its own time, and whether nothing called it."""
        return nest_calls(self.table.stretches(self.host), self.table.thread[self.host])

    @cached_property
    def operators(self) -> Ints:
        """Rows of `host` that compute: no marks of the profiler."""
        marks = np.array([name.startswith(MARKS) for name in self.table.names], dtype=bool)
        return self.host[~marks[self.table.name[self.host]]] if len(self.host) else self.host

    @cached_property
    def main(self) -> Ints:
        """Operators of the thread that trains: the one with the optimizer, or else with most operators."""
        table = self.table
        asked = table.named(self.host, *OPTIMIZER)
        asked = asked if len(asked) else self.operators
        threads, counts = np.unique(table.thread[asked], return_counts=True)
        if not len(threads):
            return self.operators
        found: Ints = self.operators[table.thread[self.operators] == threads[counts.argmax()]]
        return found

    @cached_property
    def phases(self) -> dict[str, Stretches]:
        """What the host does: data, optimizer, backward, and all other operators, the forward pass and the
        loss."""
        table = self.table
        data, update = (
            self.table.stretches(table.named(self.host, LOADER)),
            self.table.stretches(table.named(self.host, *OPTIMIZER)),
        )
        backward = self.table.stretches(table.named(self.host, BACKWARD))
        rest = self.table.stretches(self.main)
        inside = covered_time(union(backward), rest) if len(rest.starts) else np.empty(0)
        outside = rest.starts[inside < rest.stops - rest.starts]
        marks = np.concatenate([data.starts, update.starts, outside, self.windows.starts])
        return {"data": data, "optimizer": update, "backward": bridge_gaps(backward, marks), "forward": rest}

    @cached_property
    def work(self) -> Stretches:
        """What counts as work: the accelerator's, or where there is none what the host does."""
        if self.table.on_device:
            return self.table.stretches(self.table.kernels)
        return Stretches(*map(np.concatenate, zip(*self.phases.values(), strict=True)))

    def columns(self) -> dict[str, Floats]:
        """Every signal, shape `[steps]`, under its name."""
        windows = self.windows
        waits = self.table.named(self.table.rows_of_kind("runtime"), *WAITS)
        split = exclusive({"synchronize": self.table.stretches(waits), **self.phases}, windows)
        out = {"time/step": windows.stops - windows.starts}
        out |= {f"time/{name}": split[name] for name in ("data", "forward", "backward", "optimizer")}
        if not self.table.on_device:
            return out | self.idle(split[""])
        out |= self.idle(out["time/step"] - covered_time(self.work, windows))
        out["util/device"] = 1.0 - out["time/idle"] / np.maximum(out["time/step"], np.finfo(float).tiny)
        out |= {
            "time/synchronize": split["synchronize"],
            "time/transfer": covered_time(self.table.stretches(self.table.rows_of_kind("copy")), windows),
            "calls/synchronize": self.count(waits),
        }
        together = self.table.named(self.table.rows_of_kind("kernel"), *COLLECTIVE)
        if len(together):
            out["time/collective"] = covered_time(self.table.stretches(together), windows)
        when, used = self.table.memory
        if len(when):
            order = np.argsort(when, kind="stable")
            out["mem/device"] = peaks(when[order], used[order], windows)
        return out

    def idle(self, idle: Floats) -> dict[str, Floats]:
        gaps, at = gaps_between(self.work, self.windows)
        longest = np.zeros(len(self.windows.starts))
        np.maximum.at(longest, at, gaps.stops - gaps.starts)
        return {"time/idle": idle, "time/idle_longest": longest}

    def count(self, rows: Ints) -> Floats:
        at = step_of(self.table.starts[rows], self.windows)
        return np.bincount(at[at >= 0], minlength=len(self.windows.starts)).astype(np.float64)

    def panels(self) -> Iterator[tuple[str, tuple[str, ...], Floats]]:
        """(signal, names, values `[steps, names]`): own time and calls of operators, and time of kernels."""
        at_host = np.searchsorted(self.host, self.operators)
        own = self.calls.own[at_host]
        for signal, weights in (("operator_time", own), ("operator_calls", np.ones(len(own)))):
            yield signal, *self.by_name(self.operators, weights, ranked=own)
        if self.table.on_device:
            lengths = (self.table.stops - self.table.starts)[self.table.kernels]
            yield "kernel_time", *self.by_name(self.table.kernels, lengths, ranked=lengths)
            yield "kernel_calls", *self.by_name(self.table.kernels, np.ones(len(lengths)), ranked=lengths)

    def by_name(self, rows: Ints, weights: Floats, *, ranked: Floats) -> tuple[tuple[str, ...], Floats]:
        return by_name(self.table, self.windows, rows, weights, ranked=ranked)

    def gaps(self, most: int = 3) -> list[tuple[float, float, str, str]]:
        """The longest idle times: (step, seconds, what the host ended last before, what it began first
        after)."""
        tops = self.host[self.calls.top == 1] if self.table.on_device else self.main
        return longest(self.table, gaps_between(self.work, self.windows), tops, self.numbers, most)


def step_of(when: Floats, windows: Stretches) -> Ints:
    """The step to which each moment belongs; -1 for none."""
    at = np.searchsorted(windows.starts, when, side="right") - 1
    return np.where((at >= 0) & (when <= windows.stops[np.maximum(at, 0)]), at, -1)


def by_name(
    table: Table, windows: Stretches, rows: Ints, weights: Floats, *, ranked: Floats
) -> tuple[tuple[str, ...], Floats]:
    """Sums by step of the names that take most, and of the others together."""
    at = step_of(table.starts[rows], windows)
    inside = at >= 0
    rows, weights, ranked, at = rows[inside], weights[inside], ranked[inside], at[inside]
    totals = np.bincount(table.name[rows], weights=ranked, minlength=len(table.names))
    first = [int(i) for i in np.argsort(-totals, kind="stable")[:TOP] if totals[i] > 0]
    places = np.full(len(table.names), len(first))
    places[first] = np.arange(len(first))
    found = sums(weights, places[table.name[rows]], at, (len(windows.starts), len(first) + 1))
    return (*(table.names[i] for i in first), "others"), found


def longest(
    table: Table, gaps: tuple[Stretches, Ints], tops: Ints, numbers: Floats, most: int
) -> list[tuple[float, float, str, str]]:
    """The longest of the gaps: (step, seconds, which of the rows `tops` ended last before, which began first
    after)."""
    found, at = gaps
    lengths = found.stops - found.starts
    ends = np.sort(table.stops[tops])
    by_end = tops[np.argsort(table.stops[tops], kind="stable")]
    idle = []
    for i in np.argsort(-lengths, kind="stable")[:most]:
        before = int(np.searchsorted(ends, found.starts[i], side="right")) - 1
        after = int(np.searchsorted(table.starts[tops], found.stops[i], side="left"))
        names = [table.names[table.name[rows[j]]] if 0 <= j < len(rows) else ""
                 for rows, j in ((by_end, before), (tops, after))]  # fmt: skip
        idle.append((float(numbers[at[i]]), float(lengths[i]), *names))
    return idle  # type: ignore[return-value]


def peaks(when: Floats, values: Floats, windows: Stretches) -> Floats:
    """The largest value in each window; the last one before where it has none."""
    lo, hi = np.searchsorted(when, windows.starts), np.searchsorted(when, windows.stops)
    return np.array(
        [values[a:b].max() if b > a else values[max(a - 1, 0)] for a, b in zip(lo, hi, strict=True)]
    )
