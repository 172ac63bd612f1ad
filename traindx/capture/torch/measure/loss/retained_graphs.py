"""Autograd graphs that a loop retains from step to step: losses that are summed or listed as tensors, a
hidden state that is never detached. The memory of such graphs is never freed.

They are looked for in the variables of the functions that are running when a step is made, at a few steps in a row,
and later again. A variable with more graphs each time retains them: one that is only set for the first time between
two of these steps does not, nor one whose graph is as long as a sequence or an episode."""

import linecache
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from traindx.capture.process.patches import Lines, variables_of
from traindx.capture.torch.measure.loss.graph import nodes_of
from traindx.vocabulary import Fact

FIRST, LAST = 8, 1 << 13  # steps that are inspected first and last
APART = 8  # times as many steps from some inspected steps to the next
ROW = 6  # steps: of 720 graphs that are as long as something else, one grows at each
SHARE = 0.5  # new graphs for each step since the one inspected before, at least
MOST_NODES = 20_000  # of a graph that are counted
FRAMES = 6  # functions of the user's that are read
VARIABLES = 2000  # of a function or an object that are read
GROWS = r"(?<![\w.]){name}\b(\[[^\]]*\])?\s*(\.(append|add|extend|update|appendleft)\(|\+=|=[^=])"
STARTS = r"=\s*(\[|\{|[\d.]+|None|list\(|dict\(|deque\(|torch\.zeros\(.*)[\]})]*\s*(#.*)?$"  # it starts empty there


class Variable(NamedTuple):
    """How many graphs a variable holds, and the `frame` of its function."""

    graphs: int
    frame: FrameType


class RetainedGraphs:
    """`facts` of the variable that retains most."""

    def __init__(self) -> None:
        self._next, self._at = FIRST, 0
        self._rows = 0  # inspected in a row
        self._held: dict[str, int] = {}  # graphs of the variables that have grown so far
        self._lines = Lines(os.getcwd())
        self.facts: dict[str, Fact] = {}

    def look(self, step: int, frame: FrameType | None) -> None:
        """Before a step, after so many; `frame` makes it."""
        if step < self._next or self._next > LAST or self.facts.get("graphs_kept"):
            return
        found: dict[str, Variable] = {}
        for function in self._functions(frame):
            for name, value in variables(function):
                found.setdefault(name, Variable(count_graphs(value), function))
        least = SHARE * (step - self._at)
        grown = {n: v.graphs for n, v in found.items() if v.graphs - self._held.get(n, v.graphs) >= least}
        self._held = grown if self._rows else {n: v.graphs for n, v in found.items() if v.graphs}
        self._rows, self._at = self._rows + 1, step
        if self._rows == ROW:
            self.facts["graphs_kept"] = 0
            if grown:
                name = max(grown, key=lambda name: grown[name])
                self._report(name, found[name])
            self._next, self._rows = self._next * APART, 0

    def _report(self, name: str, variable: Variable) -> None:
        self.facts |= {"graphs_kept": variable.graphs, "graphs_kept_by": name}
        code = variable.frame.f_code
        pattern = re.compile(GROWS.format(name=re.escape(name)))
        lines = linecache.getlines(code.co_filename, variable.frame.f_globals)
        numbers = sorted({line for _, _, line in code.co_lines() if line and line <= len(lines)})
        sets = [line for line in numbers if pattern.search(lines[line - 1])]
        adds = [line for line in sets if not re.search(STARTS, lines[line - 1])]
        if sets:
            self.facts["graphs_kept_at"] = f"{self._lines.shown(code.co_filename)}:{(adds or sets)[-1]}"

    def _functions(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The user's functions that are running, the innermost first."""
        count = 0
        while frame is not None and count < FRAMES:
            if self._lines.shown(frame.f_code.co_filename):
                count += 1
                yield frame
            frame = frame.f_back


def variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Names and values of a function, and of the object that it is a method of."""
    for name, value in list(variables_of(frame).items())[:VARIABLES]:
        yield name, value
        if name == "self" and not isinstance(value, nn.Module | torch.optim.Optimizer):
            attributes = getattr(value, "__dict__", None) or {}
            yield from ((f"self.{key}", held) for key, held in list(attributes.items())[:VARIABLES])


def count_graphs(value: Any) -> int:
    """How many graphs a value holds: nodes of a tensor's graph, or tensors with a graph in a list or a
    dict."""
    if isinstance(value, torch.Tensor):
        return len(nodes_of(value, MOST_NODES)) if value.grad_fn is not None else 0
    if isinstance(value, Mapping):
        return sum(count_listed(held) for held in list(value.values())[:VARIABLES])
    return count_listed(value)


def count_listed(value: Any) -> int:
    """1 for a tensor with a graph; the length of a list whose last item is one."""
    if isinstance(value, torch.Tensor):
        return int(value.grad_fn is not None)
    if type(value) not in (list, deque, tuple) or not value:
        return 0
    last = value[-1]
    return len(value) if isinstance(last, torch.Tensor) and last.grad_fn is not None else 0
