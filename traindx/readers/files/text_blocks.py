"""Bytes of a log in pieces that end at a line end, and the refusal of bytes that are no text."""

import codecs
import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from traindx.errors import NotALog, ReadError
from traindx.readers.compressed import MAGIC
from traindx.readers.raw import HEAD_BYTES, Source
from traindx.vocabulary import Event

BLOCK_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 22  # a longer line is cut in pieces: as JSON it may take 40 times as much memory
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

A = TypeVar("A")
B = TypeVar("B")


def as_plain_text(data: bytes) -> bytes:
    """UTF-8 without byte-order mark or zeros (shells on Windows write UTF-16), lines ended by `\\n`."""
    if data[:2] in UTF16:
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        data = data.translate(None, b"\0")  # a gigabyte of zeros in a twentieth of the time of `replace`
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def head_lines(head: bytes, most: int = 64) -> list[bytes]:
    """The first whole lines of `head` that are not blank (the last one of a full head may be cut)."""
    lines = as_plain_text(head).split(b"\n", 4 * most)
    if len(head) >= HEAD_BYTES or len(lines) > 4 * most:
        lines = lines[:-1]
    return [line for line in lines if line.strip()][:most]


def is_text(head: bytes) -> bool:
    """Whether bytes may be text. Zeros inside are what a crash of the machine leaves in a log."""
    return head[:2] in UTF16 or (b"\0" not in head[:64] and 3 * head.count(b"\0") <= len(head))


def refuse_non_text(source: Source) -> None:
    """Raise with the reason if the bytes can hold no text log.

    Errors: NotALog for nothing, a Git LFS pointer, an HTML page, binary bytes.
    """
    start = as_plain_text(source.head[:1024]).lstrip().lower() if is_text(source.head) else b""
    if not source.head.strip():
        raise NotALog(source.name, "the file is empty", hint="the run may not have logged anything yet")
    if start.startswith(b"version https://git-lfs"):
        raise NotALog(
            source.name, "this is a Git LFS pointer, not the file itself", hint="run `git lfs pull` first"
        )
    if start.startswith((b"<!doctype html", b"<html")):
        raise NotALog(
            source.name, "this is an HTML page", hint="download the raw file instead of its web page"
        )
    if not is_text(source.head):
        raise NotALog(source.name, "binary bytes where a text log was expected")


def size_of(source: Source) -> int:
    """About how many plain bytes it holds: a gzip file says so (modulo 4 GiB) in its last four."""
    if source.data is not None:
        return len(source.data)
    assert source.path is not None
    stored = source.path.stat().st_size
    with open(source.path, "rb") as stream:
        if stream.read(2) != MAGIC or stored < 18:
            return stored
        stream.seek(-4, io.SEEK_END)
        return int.from_bytes(stream.read(4), "little")


def chunks(source: Source, events: list[Event], size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The decompressed bytes, `size` at a time. A damaged .gz ends early, with a warning.

    Errors: ReadError when the file cannot be opened or read.
    """
    done = 0
    pieces: list[bytes] = []
    try:
        with source.open() as stream:
            while piece := stream.read1(size):  # type: ignore[attr-defined]
                pieces.append(piece)
                done += len(piece)
                if sum(map(len, pieces)) >= size:
                    yield b"".join(pieces)
                    pieces.clear()
    except EOFError as damage:
        if not done:
            raise ReadError(source.name, str(damage)) from damage
        events.append(Event("parse-warning", str(damage), place=f"byte {done}"))
    except OSError as error:
        raise ReadError(source.name, error.strerror or str(error)) from error
    if pieces:
        yield b"".join(pieces)


def whole_text(source: Source, events: list[Event], *, most: int = 1 << 29) -> bytes:
    """All bytes as `as_plain_text` text. Errors: ReadError above `most` bytes."""
    pieces, total = [], 0
    for chunk in chunks(source, events):
        pieces.append(chunk)
        total += len(chunk)
        if total > most:
            raise ReadError(
                source.name, f"one JSON document of more than {most >> 20} MiB", hint="use JSON Lines"
            )
    return as_plain_text(b"".join(pieces))


def blocks(source: Source, events: list[Event], size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """`as_plain_text` bytes in pieces that end at a line end (the very last line may lack its own)."""
    head = source.head
    if head[:2] in UTF16:
        yield whole_text(source, events)
        return
    newline = b"\r" if b"\r" in head and b"\n" not in head else b"\n"
    rest = b""
    for chunk in chunks(source, events, size):
        chunk = rest + chunk
        cut = chunk.rfind(newline) + 1
        if not cut and len(chunk) < MAX_LINE_BYTES:
            rest = chunk
            continue
        rest = chunk[cut:] if cut else b""
        yield as_plain_text(chunk[:cut] if cut else chunk)
    if rest:
        yield as_plain_text(rest)


def two_at_a_time(function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """`map` on two threads, in order, holding only a few items: for work that releases the GIL."""
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        waiting: deque[Future[B]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
