"""Autograd graphs that a loop retains from step to step: losses that are summed or listed as tensors, a
hidden state that is never detached. The memory of such graphs is never freed.

They are looked for in the variables of the functions that are running when a step is made, at three steps with the
same distance, and later again. A variable with more graphs each time, by about as many, retains them: one that is only
set between two of these steps does not, nor one whose graph is as long as a sequence."""

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
APART = 8  # times as many steps from three inspected steps to the next three
SHARE = 0.5  # new graphs for each step since the one inspected before, at least
ALIKE = 2.0  # times as many new graphs as between the steps before, at most
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
        self._base, self._at = FIRST, [0]
        self._before: list[dict[str, int]] = []
        self._lines = Lines(os.getcwd())
        self.facts: dict[str, Fact] = {}

    def look(self, step: int, frame: FrameType | None) -> None:
        """Before a step, after so many; `frame` makes it."""
        due = self._base + len(self._before) * self._base // 2
        if step < due or self._base > LAST or self.facts.get("graphs_kept"):
            return
        found: dict[str, Variable] = {}
        for function in self._functions(frame):
            for name, value in variables(function):
                found.setdefault(name, Variable(count_graphs(value), function))
        self._before.append({name: variable.graphs for name, variable in found.items()})
        self._at.append(step)
        if len(self._before) == 3:
            self.facts["graphs_kept"] = 0
            grown = [(v.graphs, name) for name, v in found.items() if self._grows(name)]
            if grown:
                _, name = max(grown, key=lambda pair: pair[0])
                self._report(name, found[name])
            self._base, self._before = self._base * APART, []

    def _grows(self, name: str) -> bool:
        """Whether a variable held graphs at all three steps, and about as many more each time."""
        first, middle, last = (held.get(name, 0) for held in self._before)
        rates = [
            (more - less) / (step - before)
            for less, more, before, step in zip(
                (first, middle), (middle, last), self._at[-3:-1], self._at[-2:], strict=True
            )
        ]
        return first > 0 and min(rates) >= SHARE and max(rates) <= ALIKE * min(rates)

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
