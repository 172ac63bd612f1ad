"""Bytes to lines: a stream that never holds more than a block of the file.

A carriage return and a run of backspaces end a line, as a progress bar that redraws itself is a
sequence of lines on one place of the screen. Line numbers count these pieces too.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

BLOCK = 1 << 20  # bytes read at a time
DIGITS_AND_BLANKS = b"0123456789 \t"
LONGEST = 1 << 16  # characters kept of one line; the rest of it is passed over

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
BACKSPACES = re.compile("\x08+")
BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


def encoding_of(head: bytes) -> str:
    """UTF-8, unless a byte order mark says otherwise (PowerShell redirects in UTF-16)."""
    return next((name for mark, name in BOMS if head.startswith(mark)), "utf-8")


def cleaned(text: str) -> str:
    """Text in which every end of a line, of any kind, is one newline, without colours, and without the zeros
    of a file that was emptied while it was written."""
    if "\0" in text:
        text = text.replace("\0", "")
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x08" in text:
        text = BACKSPACES.sub("\n", text)
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
            found = cleaned(whole).split("\n")
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
        yield cleaned(rest).split("\n")


def signature(line: str) -> bytes:
    """A line without its digits and blanks: the same for all lines of one shape."""
    return line.encode().translate(None, DIGITS_AND_BLANKS)


def signed_lines(stream: BinaryIO) -> Iterator[tuple[int, tuple[str, bytes]]]:
    """Lines with their number, from 1, and their signature, which is made for a block at a time."""

    def pairs(block: list[str]) -> Iterator[tuple[str, bytes]]:
        signatures = "\n".join(block).encode().translate(None, DIGITS_AND_BLANKS).split(b"\n")
        return zip(block, signatures, strict=True)

    return enumerate(chain.from_iterable(map(pairs, blocks(stream))), 1)
