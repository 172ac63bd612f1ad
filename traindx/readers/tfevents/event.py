"""One TensorBoard event, field by field: where its scalars are.

The general parser. It reads any layout, and its answer for one record is what the template reader
applies to thousands of records of the same layout.

Schemas: tensorflow/core/util/event.proto, framework/summary.proto, framework/tensor.proto.
"""

import struct

import msgspec

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

Span = tuple[int, int]
# DataType -> struct code of one element.
DTYPES = {
    1: "f",
    2: "d",
    3: "i",
    4: "B",
    5: "h",
    6: "b",
    9: "q",
    10: "?",
    17: "H",
    19: "e",
    22: "I",
    23: "Q",
}
DT_STRING, DT_BFLOAT16 = 7, 14
VALUE_FIELDS = {
    5: "f",
    6: "d",
    7: "varint",
    10: "varint",
    11: "varint",
    16: "varint",
    17: "varint",
    13: "half",
}
WALL, STEP, SUMMARY, VALUE, TAG = 0x09, 0x10, 0x2A, 0x0A, 0x0A  # keys: field and wire type
OTHER_KEYS = frozenset({0x22, 0x2A, 0x32})  # image, histogram, audio
SCALAR_PLUGINS = ("", "scalars")


class Scalar(msgspec.Struct):
    """A named number: spans of its tag and its bytes, and how they are coded (a struct code,
    "varint", "half", "bfloat16" or "zero")."""

    tag: Span
    code: str
    at: Span


class Layout(msgspec.Struct):
    """Where the parts of an event are, as spans of the buffer it was parsed from."""

    wall: Span | None = None
    step: Span | None = None
    scalars: list[Scalar] = msgspec.field(default_factory=list)
    texts: list[tuple[Span, Span]] = msgspec.field(default_factory=list)  # tag, text
    hparams: list[Span] = msgspec.field(default_factory=list)
    others: int = 0  # summaries that are no scalars: histograms, images ...


def layout(buffer: bytes, at: int = 0, end: int | None = None) -> Layout:
    """Parse the event in `buffer[at:end]`. Raises Malformed."""
    out = Layout()
    for number, kind, start, stop in fields(buffer, at, end):
        if number == 1 and kind == FIXED64:
            out.wall = (start, stop)
        elif number == 2 and kind == VARINT:
            out.step = (start, stop)
        elif number == 5 and kind == LENGTH:
            for inner, inner_kind, low, high in fields(buffer, start, stop):
                if inner == 1 and inner_kind == LENGTH:
                    _value(buffer, low, high, out)
    return out


def is_other(octets: bytes) -> bool:
    """Whether an event surely holds one summary that is no scalar (a histogram, an image, a sound), laid out
    as all writers do: wall time, step, one value with its tag and then its content to the end. False says
    nothing."""
    end = len(octets)
    try:
        at = 9
        if octets[0] != WALL or end < 12:
            return False
        if octets[at] == STEP:
            at = varint(octets, at + 1, end)[1]
        for key in (SUMMARY, VALUE):
            if octets[at] != key:
                return False
            size, at = varint(octets, at + 1, end)
            if at + size != end:
                return False
        if octets[at] != TAG:
            return False
        size, at = varint(octets, at + 1, end)
        at += size
        if octets[at] not in OTHER_KEYS:
            return False
        size, at = varint(octets, at + 1, end)
    except (IndexError, Malformed):
        return False
    return at + size == end


def _value(buffer: bytes, at: int, end: int, out: Layout) -> None:
    """One Summary.Value: tag 1, simple_value 2, tensor 8, metadata 9; the rest are no scalars."""
    tag: Span | None = None
    simple: Span | None = None
    tensor: Span | None = None
    plugin, content = "", None
    for number, kind, start, stop in fields(buffer, at, end):
        if number == 1 and kind == LENGTH:
            tag = (start, stop)
        elif number == 2 and kind == FIXED32:
            simple = (start, stop)
        elif number == 8 and kind == LENGTH:
            tensor = (start, stop)
        elif number == 9 and kind == LENGTH:
            plugin, content = _plugin(buffer, start, stop)
    if plugin == "hparams" and content is not None:
        out.hparams.append(content)
    elif tag is None or tag[0] == tag[1]:
        out.others += 1
    elif simple is not None:
        out.scalars.append(Scalar(tag, "f", simple))
    elif tensor is not None:
        _tensor(buffer, tag, tensor, plugin, out)
    else:
        out.others += 1


def _plugin(buffer: bytes, at: int, end: int) -> tuple[str, Span | None]:
    """Name and content of the plugin that a SummaryMetadata is for."""
    name, content = "", None
    for number, kind, start, stop in fields(buffer, at, end):
        if number == 1 and kind == LENGTH:
            for inner, inner_kind, low, high in fields(buffer, start, stop):
                if inner == 1 and inner_kind == LENGTH:
                    name = buffer[low:high].decode("utf-8", "replace")
                elif inner == 2 and inner_kind == LENGTH:
                    content = (low, high)
    return name, content


def _tensor(buffer: bytes, tag: Span, tensor: Span, plugin: str, out: Layout) -> None:
    dtype, elements = 0, 1
    content: Span | None = None
    listed: list[tuple[str, Span]] = []
    text: Span | None = None
    for number, kind, start, stop in fields(buffer, *tensor):
        if number == 1 and kind == VARINT:
            dtype = varint(buffer, start, stop)[0]
        elif number == 2 and kind == LENGTH:
            elements = _elements(buffer, start, stop)
        elif number == 4 and kind == LENGTH:
            content = (start, stop)
        elif number == 8 and kind == LENGTH and text is None:
            text = (start, stop)
        elif number in VALUE_FIELDS and start < stop:
            listed.append((VALUE_FIELDS[number], (start, stop)))
    if dtype == DT_STRING and text is not None:
        out.texts.append((tag, text))
    scalar = _scalar(tag, dtype, content, listed) if elements == 1 and plugin in SCALAR_PLUGINS else None
    if scalar is None:
        out.others += 1
    else:
        out.scalars.append(scalar)


def _elements(buffer: bytes, at: int, end: int) -> int:
    """Number of elements of a TensorShapeProto (dim 2 {size 1})."""
    total = 1
    for number, kind, start, stop in fields(buffer, at, end):
        if number == 2 and kind == LENGTH:
            sizes = [
                as_signed(varint(buffer, a, b)[0])
                for n, k, a, b in fields(buffer, start, stop)
                if (n, k) == (1, VARINT)
            ]
            total *= sizes[-1] if sizes else 0
    return total


def _scalar(tag: Span, dtype: int, content: Span | None, listed: list[tuple[str, Span]]) -> Scalar | None:
    """The one number of a tensor, or None when it holds none or several."""
    if dtype not in DTYPES and dtype != DT_BFLOAT16:
        return None
    code = "bfloat16" if dtype == DT_BFLOAT16 else DTYPES[dtype]
    if content is not None and content[0] < content[1]:
        size = 2 if code == "bfloat16" else struct.calcsize("<" + code)
        return Scalar(tag, code, content) if content[1] - content[0] == size else None
    if not listed:
        return Scalar(tag, "zero", tag)  # trailing zeros of a tensor may be left out
    if len(listed) > 1:
        return None
    kind, span = listed[0]
    if kind == "half" and dtype == DT_BFLOAT16:
        kind = "half-bfloat16"
    if kind in ("f", "d") and span[1] - span[0] != struct.calcsize("<" + kind):
        return None
    return Scalar(tag, kind, span)


def number(buffer: bytes, scalar: Scalar) -> float:
    """The value of a scalar. Raises Malformed."""
    start, stop = scalar.at
    if scalar.code == "zero":
        return 0.0
    if scalar.code in ("varint", "half", "half-bfloat16"):
        value, after = varint(buffer, start, stop)
        if after != stop:
            raise Malformed("several numbers where one was expected")
        if scalar.code == "varint":
            return float(as_signed(value))
        bits = struct.pack("<H", value & 0xFFFF)
        return _bfloat16(bits) if scalar.code == "half-bfloat16" else float(struct.unpack("<e", bits)[0])
    raw = buffer[start:stop]
    return _bfloat16(raw) if scalar.code == "bfloat16" else float(struct.unpack("<" + scalar.code, raw)[0])


def _bfloat16(bits: bytes) -> float:
    return float(struct.unpack("<f", b"\0\0" + bits)[0])


def clock(buffer: bytes, event: Layout) -> tuple[float, float]:
    """Wall time (seconds since the epoch) and step of an event; both are 0 when left out."""
    wall = struct.unpack("<d", buffer[slice(*event.wall)])[0] if event.wall else 0.0
    return float(wall), float(as_signed(varint(buffer, *event.step)[0]) if event.step else 0)
