"""Chrome traces of torch.profiler (`*.pt.trace.json`, also .gz): how a step of training spends its time."""

import json
import re
from contextlib import suppress

from traindx.readers.api import Event, NotALog, RawLog, Source
from traindx.readers.files.text_blocks import is_text, refuse_non_text
from traindx.readers.traces.events import columns_of
from traindx.readers.traces.log import log_of
from traindx.readers.traces.split import Split

NAME = "torch-trace"
BEGINS = (b"{",)
HOLDS = (b'"traceEvents"',)
LIST = re.compile(rb'"traceEvents"\s*:')
OURS = re.compile(
    rb'"(schemaVersion|deviceProperties|baseTimeNanoseconds)"|"cat"\s*:\s*"(cpu_op|kernel|Operator)"'
)
DEVICE = re.compile(r'"name"\s*:\s*("(?:[^"\\]|\\.){1,200}")')


def sniff(source: Source) -> float:
    """A document with a list of trace events, and something that only the profiler of PyTorch writes."""
    if not is_text(source.head) or source.head.lstrip()[:1] != b"{" or not LIST.search(source.head):
        return 0.0
    return 1.0 if OURS.search(source.head) else 0.6


def read(source: Source) -> list[RawLog]:
    """One run, its steps those that were traced. Errors: NotALog where nothing in it is a training of
    PyTorch."""
    refuse_non_text(source)
    events: list[Event] = []
    found = columns_of(source, events)
    split = Split(found.table())
    if not len(found) or not (len(split.operators) or split.table.on_device):
        raise NotALog(
            source.name,
            "a trace without operators of PyTorch",
            hint="record one: traindx profile -- python train.py",
            final=True,
        )
    return [log_of(source.name, NAME, "torch", split, facts(source, split), events)]


def facts(source: Source, split: Split) -> dict[str, object]:
    """The device, and what the trace spans."""
    head = source.head.decode("utf-8", "replace").partition('"traceEvents"')[0]
    device = DEVICE.search(head.partition('"deviceProperties"')[2])
    known: dict[str, object] = {"traced_steps": len(split.numbers), "traced_events": len(split.table.kind)}
    if device is not None:
        with suppress(ValueError):  # a damaged name is no fact; the events behind it are read
            known["device"] = json.loads(device[1])
    elif not split.table.on_device:
        known["device"] = "cpu"
    return known
