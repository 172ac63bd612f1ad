"""The events of an `xplane` profile (JAX, TensorFlow, XLA), in two passes: first the names, which follow
them.

Schema: xplane.proto of OpenXLA's profiler (tsl/profiler/protobuf). A space has planes (a host, a device), a
plane lines (a thread, a stream), a line events, whose names are numbers until the plane's table gives them.

The messages of any length are walked in a stream: what is passed over is never held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from traindx.readers.files.protobuf import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    Malformed,
    as_signed,
    fields,
    varint,
)
from traindx.readers.files.text_blocks import chunks
from traindx.readers.raw import Source
from traindx.vocabulary import Event

PLANE, ID, NAME, LINES, EVENT_NAMES, STAT_NAMES = 1, 1, 2, 3, 4, 5
LONGEST = 1 << 12  # bytes of a name
LARGEST = 1 << 20  # bytes of one event; what is larger is passed over
MOST = 20_000_000  # events that are read
MOST_NAMES = 1 << 20
STEP = "step_num"  # the stat that numbers a step
OPERATOR = ("hlo_op", "hlo_module")  # stats that only operations of a compiled program have


class Plane(NamedTuple):
    """`names` of events and `stats` by their numbers."""

    name: str
    names: dict[int, str]
    stats: dict[int, str]


class Happened(NamedTuple):
    """`begin` of its line in nanoseconds, `offset` from there and `lasted` in picoseconds; `step` is the
    number that the event gives itself, else None; `operator`: it says which operation of a program it is."""

    plane: str
    line: str
    name: str
    begin: int
    offset: int
    lasted: int
    step: float | None
    operator: bool


def planes_of(source: Source, damage: list[Event]) -> list[Plane]:
    """Every plane with its names, no events. What is behind a damaged place is not there."""
    wire, found = Wire(source, damage), []
    try:
        for field in wire.fields():
            if field.number == PLANE and field.kind == LENGTH:
                plane = Plane("", {}, {})
                found.append(plane)
                for inner in wire.fields(field.stop):
                    if inner.number == NAME and inner.kind == LENGTH:
                        found[-1] = plane = plane._replace(name=text(wire, inner))
                    elif inner.number in (EVENT_NAMES, STAT_NAMES) and inner.kind == LENGTH:
                        read_name(wire, inner, plane.names if inner.number == EVENT_NAMES else plane.stats)
    except Ended:
        damage.append(Event("parse-warning", "the profile ends in the middle", place=f"byte {wire.place}"))
    except Malformed as why:
        damage.append(Event("parse-warning", f"the profile is damaged: {why}", place=f"byte {wire.place}"))
    return found


def text(wire: Wire, field: Field) -> str:
    return wire.take(min(field.value, LONGEST)).decode("utf-8", "replace")


def read_name(wire: Wire, entry: Field, into: dict[int, str]) -> None:
    """An entry of a table of names: a number, and a message with the name (a shown one is preferred)."""
    number, name = 0, ""
    for field in wire.fields(entry.stop):
        if field.number == 1 and field.kind == VARINT:
            number = field.value
        elif field.number == 2 and field.kind == LENGTH:
            for inner in wire.fields(field.stop):
                if inner.number == NAME and inner.kind == LENGTH:
                    name = text(wire, inner)
    if name and len(into) < MOST_NAMES:
        into[number] = name


def plane_events(source: Source, planes: list[Plane]) -> Iterator[Happened]:
    """Every event, plane by plane and line by line; ends where the file is damaged (`planes_of` has reported
    that)."""
    wire, count, at = Wire(source, []), 0, -1
    try:
        for field in wire.fields():
            if field.number != PLANE or field.kind != LENGTH:
                continue
            at += 1
            if at >= len(planes):
                return  # behind the damage
            for inner in wire.fields(field.stop):
                if inner.number == LINES and inner.kind == LENGTH:
                    for one in line(wire, inner, planes[at]):
                        yield one
                        count += 1
                        if count >= MOST:
                            return
    except (Ended, Malformed):
        return


def line(wire: Wire, own: Field, plane: Plane) -> Iterator[Happened]:
    """A line's events, in their order. Its name and its start come before them."""
    name, begin = "", 0
    known = {number: stat for number, stat in plane.stats.items() if stat in (STEP, *OPERATOR)}
    for field in wire.fields(own.stop):
        if field.number == 3 and field.kind == VARINT:
            begin = as_signed(field.value)
        elif field.number == NAME and field.kind == LENGTH:
            name = text(wire, field)
        elif field.number == 4 and field.kind == LENGTH and field.value <= LARGEST:
            number, offset, lasted, stats = event(wire.take(field.value), known)
            called = plane.names.get(number, "")
            operator = not stats.keys().isdisjoint(OPERATOR)
            yield Happened(
                plane.name, name, called, begin, offset, max(lasted, 0), stats.get(STEP), operator
            )


def event(data: bytes, known: dict[int, str]) -> tuple[int, int, int, dict[str, float]]:
    """(number of its name, offset and duration in picoseconds, its stats that are `known`). Raises
    Malformed."""
    found, stats = [0, 0, 0], dict[str, float]()
    for number, kind, start, stop in fields(data):
        if kind == VARINT and 1 <= number <= 3:
            found[number - 1] = as_signed(varint(data, start, stop)[0])
        elif kind == LENGTH and number == 4 and known:
            stats |= stat(data, start, stop, known)
    return found[0], found[1], found[2], stats


def stat(data: bytes, start: int, stop: int, known: dict[int, str]) -> dict[str, float]:
    """A stat of an event by its name; 0 for what is no integer."""
    name, value = "", 0.0
    for number, kind, at, end in fields(data, start, stop):
        if kind == VARINT and number == 1:
            name = known.get(varint(data, at, end)[0], "")
        elif kind == VARINT and number in (3, 4):
            value = float(as_signed(varint(data, at, end)[0]))
    return {name: value} if name else {}


VARINT_BYTES = 10  # the most that a varint has
ENDLESS = 1 << 62


class Ended(Exception):
    """The bytes end within a message."""


class Field(NamedTuple):
    """`value` of a varint, else the size of what comes; `stop` is the place behind it."""

    number: int
    kind: int
    value: int
    stop: int


class Wire:
    """A window on the plain bytes of a file; `place` is how many were taken."""

    def __init__(self, source: Source, damage: list[Event]) -> None:
        self.pieces = chunks(source, damage)
        self.held, self.at, self.passed = b"", 0, 0

    @property
    def place(self) -> int:
        return self.passed + self.at

    def fill(self, count: int) -> bool:
        """Hold so many bytes that were not taken yet; False where the file ends first."""
        while len(self.held) - self.at < count:
            piece = next(self.pieces, None)
            if piece is None:
                return False
            self.passed += self.at
            self.held, self.at = self.held[self.at :] + piece, 0
        return True

    def take(self, count: int) -> bytes:
        """The next bytes. Raises Ended."""
        if not self.fill(count):
            raise Ended
        self.at += count
        return self.held[self.at - count : self.at]

    def go(self, place: int) -> None:
        """Pass over everything before a place. Raises Ended."""
        while self.passed + len(self.held) < place:
            self.passed, self.at, self.held = self.passed + len(self.held), 0, b""
            if not self.fill(1):
                raise Ended
        self.at = max(self.at, place - self.passed)

    def varint(self) -> int:
        """Raises Ended, Malformed."""
        self.fill(VARINT_BYTES)
        if self.at >= len(self.held):
            raise Ended
        value, self.at = varint(self.held, self.at, min(len(self.held), self.at + VARINT_BYTES))
        return value

    def fields(self, stop: int = ENDLESS) -> Iterator[Field]:
        """The fields of a message that ends at `stop`; what the caller leaves of one is passed over.

        Raises Ended, Malformed."""
        while self.place < stop and (stop < ENDLESS or self.fill(1)):
            key = self.varint()
            kind = key & 7
            sizes = {FIXED64: 8, FIXED32: 4}
            value = self.varint() if kind in (VARINT, LENGTH) else sizes.get(kind, -1)
            if value < 0 or not key >> 3:
                raise Malformed(f"wire type {kind} at {self.place}")
            end = self.place if kind == VARINT else self.place + value
            if end > stop:
                raise Malformed(f"field {key >> 3} runs past the end of its message")
            yield Field(key >> 3, kind, value, end)
            self.go(end)
