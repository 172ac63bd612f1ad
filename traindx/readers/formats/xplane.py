"""Profiles of JAX, TensorFlow and XLA (`*.xplane.pb`, also .gz): how a step of training spends its time."""

import re

from traindx.readers.api import Event, Iterator, NotALog, Path, RawLog, Source, source_of
from traindx.readers.files.protobuf import LENGTH, Malformed, fields, varint
from traindx.readers.traces.events import Columns
from traindx.readers.traces.log import log_of
from traindx.readers.traces.planes import NAME as NAME_OF_PLANE, PLANE, plane_events, planes_of
from traindx.readers.traces.programs import Programs, columns_of

NAME = "xplane"
FILES = ("*.xplane.pb",)
BEGINS = (b"\n",)  # the key of the first field, a plane
SUFFIXES = (".xplane.pb", ".xplane.pb.gz")
JAX = re.compile(r"PjitFunction|jit\(|pjit|jax")
KNOWN = (b"/host:", b"/device:", b"Task Environment", b"/task:", b"#Chip")  # how planes are called
BEFORE = 64  # bytes of a plane that hold its name


def sniff(source: Source) -> float:
    """A message that begins with a plane, whose name is one of the profiler's."""
    head = source.head
    if not head or head[0] != PLANE << 3 | LENGTH:
        return 0.0
    try:
        size, at = varint(head, 1, len(head))
        for number, kind, start, stop in fields(head, at, min(at + size, len(head))):
            if number == NAME_OF_PLANE and kind == LENGTH:
                return 1.0 if head[start:stop].startswith(KNOWN) else 0.0
            if start > at + BEFORE:
                break
    except Malformed:
        return 0.0
    return 0.0


def sniff_folder(path: Path) -> float:
    """Whether it holds profiles. The other files in it were made from them."""
    return 0.9 if any(True for _ in profiles(path)) else 0.0


def read_folder(path: Path) -> list[RawLog]:
    """One run for each host that was traced."""
    return [log for file in profiles(path) for log in read(source_of(file))]


def profiles(path: Path) -> Iterator[Path]:
    yield from (file for file in sorted(path.iterdir()) if file.name.endswith(SUFFIXES) and file.is_file())


def read(source: Source) -> list[RawLog]:
    """One run, its steps those that were traced. Errors: NotALog where nothing in it was computed."""
    events: list[Event] = []
    planes = planes_of(source, events)
    return [profile_log(source, NAME, columns_of(plane_events(source, planes), events), events)]


def profile_log(source: Source, name: str, found: Columns, events: list[Event]) -> RawLog:
    """What was traced as a log. Errors: NotALog where nothing was computed."""
    made = Programs(found.table())
    if not len(made.operators) and not made.table.on_device:
        raise NotALog(
            source.name,
            "a profile without operations of JAX or TensorFlow",
            hint="trace some steps of a training: jax.profiler.trace, tf.profiler.experimental",
            final=True,
        )
    facts: dict[str, object] = {"traced_steps": len(made.numbers), "traced_events": len(found)}
    facts |= {} if made.table.on_device else {"device": "cpu"}
    framework = "jax" if any(JAX.search(n) for n in made.table.names) else "tensorflow"
    return log_of(source.name, name, framework, made, facts, events)
