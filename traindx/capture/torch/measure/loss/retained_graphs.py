"""What a loop keeps from step to step together with the graph that computed it: losses that are summed up or listed
as tensors, a state that is never detached. Such graphs, and all that they hold, are never given back.

Looked for in the variables of the functions at work when a step is made, at a few steps that are further and further
apart: what holds more graphs each time, by about one a step, keeps them."""

from __future__ import annotations

import linecache
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from traindx.capture.process.patches import Lines
from traindx.capture.process.weak import variables_of
from traindx.capture.torch.measure.loss.graph import nodes_of
from traindx.vocabulary.setup import Fact

FIRST, LAST, APART = (
    8,
    1 << 13,
    4,
)  # steps: of the first look, of the last, and times as many from one to the next
SHARE = 0.5  # of the steps since the look before: graphs that must have come in them
DEEP = 20_000  # nodes of a graph that are counted
FRAMES = 6  # functions of the user's that are looked into
VARIABLES = 2000  # of a function or an object
GROWS = r"(?<![\w.]){name}\b(\[[^\]]*\])?\s*(\.(append|add|extend|update|appendleft)\(|\+=|=[^=])"
STARTS = r"=\s*(\[|\{|[\d.]+|None|list\(|dict\(|deque\(|torch\.zeros\(.*)[\]})]*\s*(#.*)?$"  # it begins empty there


class Held(NamedTuple):
    """`graphs` that a variable holds, of the function whose `frame` this is."""

    graphs: int
    frame: FrameType


class Keeping:
    """`facts` of what was found."""

    def __init__(self) -> None:
        self._due, self._at = FIRST, 0
        self._before: dict[str, int] = {}
        self._lines = Lines(os.getcwd())
        self.facts: dict[str, Fact] = {}

    def look(self, step: int, frame: FrameType | None) -> None:
        """Before a step, after so many; `frame`: who makes it."""
        if not 0 < self._due <= step or self.facts.get("graphs_kept"):
            return
        self._due = step * (APART if self._at else 2) if step < LAST else 0
        found: dict[str, Held] = {}
        for own in self._own(frame):
            for name, value in variables(own):
                found.setdefault(name, Held(graphs_of(value), own))
        if self._at:
            grown = {
                n: h
                for n, h in found.items()
                if h.graphs - self._before.get(n, 0) >= SHARE * (step - self._at)
            }
            self.facts["graphs_kept"] = 0
            if grown:
                self._tell(*max(grown.items(), key=lambda item: item[1].graphs))
        self._before, self._at = {name: held.graphs for name, held in found.items() if held.graphs}, step

    def _tell(self, name: str, held: Held) -> None:
        self.facts |= {"graphs_kept": held.graphs, "graphs_kept_by": name}
        code = held.frame.f_code
        pattern = re.compile(GROWS.format(name=re.escape(name)))
        lines = linecache.getlines(code.co_filename, held.frame.f_globals)
        own = sorted({line for _, _, line in code.co_lines() if line and line <= len(lines)})
        sets = [line for line in own if pattern.search(lines[line - 1])]
        adds = [line for line in sets if not re.search(STARTS, lines[line - 1])]
        if sets:
            self.facts["graphs_kept_at"] = f"{self._lines.shown(code.co_filename)}:{(adds or sets)[-1]}"

    def _own(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The user's functions at work, the innermost first."""
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
            own = getattr(value, "__dict__", None)
            yield from ((f"self.{key}", held) for key, held in list((own or {}).items())[:VARIABLES])


def graphs_of(value: Any) -> int:
    """How many graphs a value holds: nodes of a tensor's own, or tensors of a list or a table that have one."""
    if isinstance(value, torch.Tensor):
        return len(nodes_of(value, DEEP)) if value.grad_fn is not None else 0
    if isinstance(value, Mapping):
        return sum(listed(held) for held in list(value.values())[:VARIABLES])
    return listed(value)


def listed(value: Any) -> int:
    """Of a tensor itself 1; of a list, all that are like its last."""
    if isinstance(value, torch.Tensor):
        return int(value.grad_fn is not None)
    if type(value) not in (list, deque, tuple) or not value:
        return 0
    last = value[-1]
    return len(value) if isinstance(last, torch.Tensor) and last.grad_fn is not None else 0
