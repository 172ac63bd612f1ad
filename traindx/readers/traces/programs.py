"""What a step of a training that XLA or TensorFlow computes does with its time, step by step.

A compiled program is one call to the host, and its operations run on threads or devices of their own, often
while the host prepares the next step. So the parts follow from what is computed: any operation at all; where
none is, what the host does meanwhile (compiles, fetches data), and what is unknown."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from traindx.features.performance.intervals import (
    Stretches,
    covered_time,
    exclusive,
    gaps_between,
    nest_calls,
)
from traindx.readers.traces.events import MOST, Columns, Table
from traindx.readers.traces.planes import Happened
from traindx.readers.traces.split import by_name, longest
from traindx.vocabulary import Event, Floats, Ints

DEVICE, HOST = "/device:", "/host:"
OPERATIONS = ("XLA Ops", "Stream #")  # lines of a device that its work is on
STEPS = "Steps"  # the line of a device that its steps are on
COPIES = re.compile(r"memcpy|copy-(start|done)|infeed|outfeed|transfer", re.IGNORECASE)
DATA = re.compile(r"Iterator(::|GetNext)|GetNext\b|tf_data|InputPipeline|prefetch", re.IGNORECASE)
COMPILES = re.compile(
    r"compil(e|ation)\b|HloPass|XlaCompile|backend_compile|FuncGraph|lower_jaxpr", re.IGNORECASE
)
CALLS = re.compile(r"PjitFunction\(|Eager\w*Execute: __inference_|XlaComputationLaunch")
OPERATION = re.compile(
    r"[A-Za-z][\w./-]*:[A-Z_]\w*"
)  # how TensorFlow's executor calls one: its name and its kind
FEWEST = 3  # calls of a program that are taken for steps


def kind_of(one: Happened) -> str:
    """What an event is; "" for what has no duration, or has lost its name."""
    if not one.name:
        return ""
    if one.plane.startswith(DEVICE):
        if one.line == STEPS:
            return "step"
        if one.line.startswith(OPERATIONS):
            return "copy" if COPIES.search(one.name) or "memcpy" in one.line.lower() else "kernel"
        return ""
    if not one.plane.startswith(HOST):
        return ""
    if one.step is not None:
        return "step"
    if one.operator or OPERATION.fullmatch(one.name):
        return "operator"
    return "compile" if COMPILES.search(one.name) else "data" if DATA.search(one.name) else "host"


def columns_of(happened: Iterable[Happened], damage: list[Event]) -> Columns:
    """Everything that has a time. A step's name ends in its number."""
    found = Columns()
    first: int | None = None
    for one in happened:
        kind = kind_of(one)
        if not kind:
            continue
        first = one.begin if first is None else first
        at = (one.begin - first) / 1e3 + one.offset / 1e6
        name = f"{one.name}#{one.step:.0f}" if kind == "step" and one.step is not None else one.name
        found.add(kind, name, (one.plane, one.line), at, one.lasted / 1e6)
        if len(found) >= MOST:
            damage.append(Event("parse-warning", f"only the first {MOST:,} events of the profile were read"))
            break
    return found


@dataclass(frozen=True)
class Programs:
    """A profile and its steps. All times in seconds."""

    table: Table

    @cached_property
    def operators(self) -> Ints:
        return self.table.rows_of_kind("operator")

    @cached_property
    def marks(self) -> Ints:
        """What begins a step: the marks of the thread that has most of them, else the calls of the program
        that takes most of the time."""
        table, marks = self.table, self.table.rows_of_kind("step")
        if len(marks):
            threads, counts = np.unique(table.thread[marks], return_counts=True)
            return self.outermost(marks[table.thread[marks] == threads[counts.argmax()]])
        host = table.rows_of_kind("host")
        called = np.array([CALLS.search(name) is not None for name in table.names], dtype=bool)
        calls = host[called[table.name[host]]] if len(host) else host
        names, counts = np.unique(table.name[calls], return_counts=True)
        spent = {int(n): float((table.stops - table.starts)[calls[table.name[calls] == n]].sum())
                 for n, count in zip(names, counts, strict=True) if count >= FEWEST}  # fmt: skip
        if not spent:
            return calls[:0]
        return self.outermost(calls[table.name[calls] == max(spent, key=lambda n: spent[n])])

    def outermost(self, rows: Ints) -> Ints:
        """Those that are not within another."""
        found: Ints = rows[nest_calls(self.table.stretches(rows), self.table.thread[rows]).top == 1]
        return found

    @cached_property
    def windows(self) -> Stretches:
        """The steps: from one's begin to that of the next, as a program may compute long after it was
        called. Without marks the profile is one."""
        begin, table = np.unique(self.table.starts[self.marks]), self.table
        if len(begin) < FEWEST:
            begin = np.array([table.starts.min(initial=0.0), table.stops.max(initial=0.0)])
        return Stretches(begin[:-1], begin[1:])

    @cached_property
    def numbers(self) -> Floats:
        """The steps' own numbers, or 0, 1, 2 ..."""
        table = self.table
        numbers = {float(table.starts[i]): table.names[table.name[i]].rpartition("#")[2] for i in self.marks}
        words = [numbers.get(float(start), "") for start in self.windows.starts]
        if all(word.isdecimal() and len(word) < 16 for word in words) and len(set(words)) == len(words):
            return np.array([float(word) for word in words])
        return np.arange(len(words), dtype=np.float64)

    @cached_property
    def work(self) -> Stretches:
        """When anything was computed: on the accelerator, where there is one."""
        return self.table.stretches(self.table.kernels if self.table.on_device else self.operators)

    def columns(self) -> dict[str, Floats]:
        """Every signal, shape `[steps]`, under its name."""
        windows, table = self.windows, self.table
        kinds = {kind: self.table.stretches(table.rows_of_kind(kind)) for kind in ("compile", "data")}
        split = exclusive({"compute": self.work, **kinds}, windows)
        out = {"time/step": windows.stops - windows.starts}
        out |= {f"time/{name}": split[name] for name in ("compute", "compile", "data")}
        out["time/idle"] = out["time/step"] - split["compute"] if self.table.on_device else split[""]
        gaps, at = self.idle
        out["time/idle_longest"] = np.zeros(len(windows.starts))
        np.maximum.at(out["time/idle_longest"], at, gaps.stops - gaps.starts)
        if self.table.on_device:
            out["util/device"] = split["compute"] / np.maximum(out["time/step"], np.finfo(float).tiny)
            out["time/transfer"] = covered_time(self.table.stretches(table.rows_of_kind("copy")), windows)
        return out

    @cached_property
    def idle(self) -> tuple[Stretches, Ints]:
        """The times in which nothing was computed, and the step of each."""
        return gaps_between(self.work, self.windows)

    def panels(self) -> Iterator[tuple[str, tuple[str, ...], Floats]]:
        """(signal, names, values `[steps, names]`): own time and calls of operations, and time of
        kernels."""
        for kind, rows in (("operator", self.operators), ("kernel", self.table.kernels)):
            if kind == "operator" or len(rows):
                own = nest_calls(self.table.stretches(rows), self.table.thread[rows]).own
                for signal, weights in ((f"{kind}_time", own), (f"{kind}_calls", np.ones(len(own)))):
                    yield signal, *by_name(self.table, self.windows, rows, weights, ranked=own)

    def gaps(self, most: int = 3) -> list[tuple[float, float, str, str]]:
        """The longest of the gaps: (step, seconds, what the thread that trains ended before, what it began
        after)."""
        host = np.flatnonzero(~np.isin(self.table.kind, self.table.kind[self.table.kernels]))
        if len(self.marks):
            host = host[self.table.thread[host] == self.table.thread[self.marks[0]]]
        return longest(self.table, self.idle, host, self.numbers, most)
