"""Chrome traces of torch.profiler (`*.pt.trace.json`, also .gz): how a step of training spends its time."""

from __future__ import annotations

import json
import re

import numpy as np

from traindx.errors import NotALog
from traindx.readers._stream import is_text, refuse_non_text
from traindx.readers.raw import RawLog, RawPanel, Source, column
from traindx.readers.traces.events import columns_of
from traindx.readers.traces.split import Split
from traindx.vocabulary.run import Event

NAME = "torch-trace"
LIST = re.compile(rb'"traceEvents"\s*:')
OURS = re.compile(rb'"(schemaVersion|deviceProperties|baseTimeNanoseconds)"|"cat"\s*:\s*"(cpu_op|kernel|Operator)"')
DEVICE = re.compile(r'"name"\s*:\s*("(?:[^"\\]|\\.){1,200}")')
LONG = 1e-6  # seconds; a shorter gap is told by no event


def sniff(source: Source) -> float:
    """A document with a list of trace events, and something that only the profiler of PyTorch writes."""
    if not is_text(source.head) or source.head.lstrip()[:1] != b"{" or not LIST.search(source.head):
        return 0.0
    return 1.0 if OURS.search(source.head) else 0.6


def read(source: Source) -> list[RawLog]:
    """One run, its steps those that were traced. Errors: NotALog where nothing in it is a training of PyTorch."""
    refuse_non_text(source)
    events: list[Event] = []
    found = columns_of(source, events)
    split = Split(found.table())
    if not len(found) or not (len(split.operators) or split.on_device):
        raise NotALog(
            source.name,
            "a trace without operators of PyTorch",
            hint="record one: traindx profile -- python train.py",
            final=True,
        )
    columns, rows = split.columns(), np.arange(len(split.numbers))
    raw = RawLog(
        source.name,
        NAME,
        "torch",
        {name: column(values, rows, split.numbers) for name, values in columns.items()},
        axis_kind="step",
        roles={name: name for name in columns},
        units={name: "s" for name in columns if name.startswith("time/")},
        facts=facts(source, split),
        events=[*events, *idle_events(split.gaps())],
        complete=None,
    )
    for signal, names, values in split.panels():
        raw.panels[signal] = RawPanel(split.numbers, names, values, rows)
    return [raw]


def facts(source: Source, split: Split) -> dict[str, object]:
    """The device, and what the trace spans."""
    head = source.head.decode("utf-8", "replace").partition('"traceEvents"')[0]
    device = DEVICE.search(head.partition('"deviceProperties"')[2])
    told: dict[str, object] = {"traced_steps": len(split.numbers), "traced_events": len(split.table.kind)}
    if device is not None:
        told["device"] = json.loads(device[1])
    elif not split.on_device:
        told["device"] = "cpu"
    return told


def idle_events(gaps: list[tuple[float, float, str, str]]) -> list[Event]:
    """The longest times in which nothing was computed, and between what."""
    return [
        Event("note", f"idle for {seconds * 1e3:.3g} ms" + words(before, after), step, code="idle")
        for step, seconds, before, after in gaps
        if seconds >= LONG
    ]


def words(before: str, after: str) -> str:
    return (
        (f" after {before}" if before else "")
        + (" and" if before and after else "")
        + (f" before {after}" if after else "")
    )
