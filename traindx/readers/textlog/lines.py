"""Bytes to lines: a stream that never holds more than a block of the file.

A carriage return and a run of backspaces end a line, as a progress bar that redraws itself is a
sequence of lines on one place of the screen. Line numbers count these pieces too.

Boxed tables of two columns: `| loss | 0.41 |` between rules, one box a moment (Baselines,
Stable-Baselines3, Spinning Up). A box is one row; a line without a value opens a section."""

import codecs
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.keys import Key, metric_name
from traindx.readers.textlog.records import Records
from traindx.readers.textlog.words import counter_of

BLOCK = 1 << 20  # bytes read at a time
DIGITS_AND_BLANKS = b"0123456789 \t"
LONGEST = 1 << 16  # characters kept of one line; the rest of it is passed over

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CURSOR_UP = re.compile(r"\x1b\[\d*A")  # nested progress bars: what follows is another line of the screen
BACKSPACES = re.compile("\x08+")
OF_WINDOWS = re.compile(r"1\.#(IND|QNAN|SNAN|INF)\d*")  # how C prints what is not finite there
BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


def encoding_of(head: bytes) -> str:
    """UTF-8, unless a byte order mark says otherwise (PowerShell redirects in UTF-16)."""
    return next((name for mark, name in BOMS if head.startswith(mark)), "utf-8")


def clean_text(text: str) -> str:
    """Text in which every end of a line, of any kind, is one newline, without colours, and without the zeros
    of a file that was emptied while it was written."""
    if "\0" in text:
        text = text.replace("\0", "")
    if "\x1b" in text:
        text = ANSI.sub("", CURSOR_UP.sub("\n", text))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x08" in text:
        text = BACKSPACES.sub("\n", text)
    if "1.#" in text:
        text = OF_WINDOWS.sub(lambda found: "inf" if found[1] == "INF" else "nan", text)
    return text


def blocks(stream: BinaryIO) -> Iterator[list[str]]:
    """Lines of a binary stream, in lists of about a megabyte. Bytes that are not text in the
    file's encoding become U+FFFD. Raises EOFError or OSError when the stream itself breaks."""
    # A single read of the underlying stream: a gzip stream that is cut off gives all it has before it fails.
    read = getattr(stream, "read1", stream.read)
    first = read(BLOCK)
    decoder = codecs.getincrementaldecoder(encoding_of(first))(errors="replace")
    rest, skipping, data = "", False, first
    while data:
        text = rest + decoder.decode(data)
        cut = max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1), text.rfind("\x08")) + 1
        whole, rest = text[:cut], text[cut:]
        if whole:
            found = clean_text(whole).split("\n")
            found.pop()
            if skipping:
                found[:1] = []
                skipping = False
            yield found
        if len(rest) > LONGEST:
            if not skipping:
                yield [rest[:LONGEST]]
            rest, skipping = "", True
        data = read(BLOCK)
    rest += decoder.decode(b"", final=True)
    if rest and not skipping:
        yield clean_text(rest).split("\n")


def signature(line: str) -> bytes:
    """A line without its digits and blanks: the same for all lines of one shape."""
    return line.encode().translate(None, DIGITS_AND_BLANKS)


def signed_lines(stream: BinaryIO) -> Iterator[tuple[int, tuple[str, bytes]]]:
    """Lines with their number, from 1, and their signature, which is made for a block at a time."""

    def pairs(block: list[str]) -> Iterator[tuple[str, bytes]]:
        signatures = "\n".join(block).encode().translate(None, DIGITS_AND_BLANKS).split(b"\n")
        return zip(block, signatures, strict=True)

    return enumerate(chain.from_iterable(map(pairs, blocks(stream))), 1)


LINE = re.compile(
    r"^[|│┃]([^|│┃]*[^\W\d_][^|│┃]*)[|│┃]\s*([-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf|[^|│┃]*)\s*[|│┃]$",
    re.IGNORECASE,
)


WIDEST = 400  # characters


class Boxes:
    """Reads boxes line by line; a gap in the line numbers ends a box."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.section = ""
        self.first = self.last = -9
        self.cells: dict[Field, float] = {}

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        if len(line) >= WIDEST or line.lstrip()[:1] not in ("|", "│", "┃"):
            return None
        if not (pair := LINE.match(line.strip())):  # indented in a message that quotes it
            return None
        table = pair[2].strip().isalpha() and counter_of(pair[1])  # `| Epoch | Loss |` heads one
        headings = line.lstrip()[0] == "┃" and not any(
            c.isdigit() for c in line
        )  # Rich draws those of a table so
        return None if headings or table else self.take

    def take(self, line: str, row: int) -> None:
        found = LINE.match(line.strip())
        if row != self.last + 1:
            self.flush()
            self.first = row
        self.last = row
        if found is None:
            return
        name, value = found[1].strip(), found[2].strip()
        if not value and name.endswith("/"):
            self.section = name
            return
        indented = found[1].startswith("    ") and self.section
        number = number_in(value)
        if number is not None:
            self.cells.setdefault(field_named(self.section + name if indented else name), number)

    def flush(self) -> None:
        """End the box: its cells become one record."""
        cells = {f: v for f, v in self.cells.items() if f.name}
        if cells:
            self.records.put(tuple(cells), list(cells.values()), self.first)
        self.cells, self.section = {}, ""


def number_in(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def field_named(name: str) -> Field:
    """The field a heading names: a counter or a metric; without a name when it is neither."""
    counter = ("step", 1) if name == "#" else counter_of(name)  # spaCy heads its step column so
    if counter:
        return Field(counter[0], "counter", counter[1])
    return Field(metric_name(Key(name, True, "", ""), ""), "metric")
