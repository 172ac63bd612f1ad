"""Sources that are still being written: what is there, what has changed, and everything that is whole so far."""

import contextlib
import os
import re
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import BinaryIO

import msgspec

from traindx import readers
from traindx.errors import NotALog, ReadError
from traindx.readers.assembly.runs import assemble
from traindx.readers.compressed import open_plain
from traindx.readers.raw import HEAD_BYTES, Source
from traindx.vocabulary import Run

ROTATED = re.compile(
    r"(\.\d{1,3}|-\d{8})(\.gz)?$"
)  # train.log.1, train.log-20261125.gz: older parts of train.log
MOST_TAIL = 1 << 20  # bytes of what was appended that are searched for words of failure
COMPARED = 256  # bytes at the end of what was read, by which a file is recognized
MOST_TEXT = 256 << 20  # bytes of a text that are held in memory; a longer one is read from its file


class Stamp(msgspec.Struct, frozen=True):
    """What shows, without reading, whether a file or folder has changed."""

    files: tuple[tuple[str, int, int, int], ...]  # name, inode, bytes, nanoseconds

    @property
    def size(self) -> int:
        return sum(size for _, _, size, _ in self.files)


def stamp_of(path: Path) -> Stamp:
    """Raises OSError for what is not there."""
    if not path.is_dir():
        found = path.stat()
        return Stamp(((path.name, found.st_ino, found.st_size, found.st_mtime_ns),))
    files = []
    for at, folders, names in os.walk(path):
        folders[:] = sorted(folder for folder in folders if folder not in readers.SKIPPED_FOLDERS)
        for name in sorted(names):
            try:
                found = os.stat(os.path.join(at, name))
            except FileNotFoundError:  # removed meanwhile
                continue
            files.append((os.path.join(at, name), found.st_ino, found.st_size, found.st_mtime_ns))
    return Stamp(tuple(files))


def discover(path: Path) -> Iterator[Path]:
    """The sources below a path: a file, or a folder that a format reads as one run."""
    if not path.is_dir():
        yield path
        return
    if readers.folder_format(path) is not None:
        yield path
        return
    with os.scandir(path) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        below = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in readers.SKIPPED_FOLDERS:
                yield from discover(below)
        elif (
            entry.name[0] != "."
            and entry.is_file()
            and readers.looks_like_log(below)
            and not is_rotated(below)
        ):
            yield below


def is_rotated(path: Path) -> bool:
    found = ROTATED.search(path.name)
    return found is not None and path.with_name(path.name[: found.start()]).exists()


class Growing:
    """One source. A text is kept as it was read, so that truncation and rotation lose nothing: what comes
    afterwards is appended, and the reader finds out whether the run goes on or a new one begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp: Stamp | None = None
        # Bytes of the file that were read, and how many zeros at its start are no text.
        self.inode, self.offset, self.hole = 0, 0, 0
        self.text: bytearray | None = None  # None: not a plain text, or not yet known
        self.noted: dict[Path, int] = {}  # files of events of a native record -> bytes that were read

    def changed(self) -> bool:
        """Whether anything was written since the last call; False for what is not there at the moment."""
        try:
            now = stamp_of(self.path)
        except OSError:
            return False
        before, self.stamp = self.stamp, now
        return now != before

    @property
    def size(self) -> int:
        """Bytes so far."""
        if self.text is not None:
            return len(self.text)
        return self.stamp.size if self.stamp else 0

    def take(self) -> bytes:
        """Read what was appended to a text of lines, and return its end; of a native record, what capture has noted
        since; b"" for other sources."""
        if not self.path.is_file():
            return b"".join(map(self.read_new_notes, sorted(self.path.glob("events-*.jsonl"))))
        with open(self.path, "rb") as stream:
            found = os.fstat(stream.fileno())
            if self.text is None and not (found.st_size <= MOST_TEXT and is_lines(stream.read(HEAD_BYTES))):
                return b""
            before = bytearray() if self.text is None else self.text
            same = found.st_ino == self.inode and found.st_size >= self.offset
            if not (same and same_end(stream, self.offset - self.hole, self.offset, before)):
                stream.seek(0)
                if same and stream.read(1) != b"\0":
                    before = bytearray()  # written anew
                else:  # rotated, truncated or replaced: what was read before stays
                    before += self.missed(before)
                self.offset = self.hole = 0
            self.inode = found.st_ino
            stream.seek(self.offset)
            new = stream.read()
        size = len(new)
        if self.offset == 0:  # a writer that is not in append mode goes on behind a hole after a truncation
            new = new.lstrip(b"\0")
            self.hole = size - len(new)
        self.offset += size
        before += new  # in place: a copy of a long text for each row costs more than all else
        self.text = before if len(before) <= MOST_TEXT else None
        return new[-MOST_TAIL:]

    def missed(self, before: bytearray) -> bytes:
        """What was written after the last read and is only in the part that was rotated away."""
        for part in self.path.parent.glob(escape(self.path.name) + "?*"):
            if self.offset == self.hole or not is_rotated(part):
                continue
            # A part that is not compressed yet, damaged or removed meanwhile: another may have it.
            with contextlib.suppress(OSError, EOFError), open_plain(part) as stream:
                text = stream.read()
                if (
                    text[self.hole : self.offset][-COMPARED:]
                    == before[self.hole - self.offset :][-COMPARED:]
                ):
                    return text[self.offset :]
        return b""

    def read_new_notes(self, file: Path) -> bytes:
        with open(file, "rb") as stream:
            stream.seek(self.noted.get(file, 0))
            new = stream.read(MOST_TAIL)
            self.noted[file] = stream.tell()
        return new

    def runs(self, mapping: dict[str, str] | None = None, whole: bool = False) -> tuple[Run, ...]:
        """The runs so far, without a last line that is not whole (with it where `whole`: nothing more will come).
        Raises ReadError."""
        if self.text is None:
            return readers.read_all([self.path], mapping)
        end = len(self.text) if whole else self.text.rfind(b"\n") + 1
        if end == 0:
            raise NotALog(str(self.path), "has no whole line yet")
        data = bytes(memoryview(self.text)[:end])
        logs = readers.read_source(Source(str(self.path), data=data, head=data[:HEAD_BYTES]))
        return tuple(run for log in readers.merge_groups(logs) for run in assemble(log, mapping))


def same_end(stream: BinaryIO, read: int, offset: int, text: bytearray) -> bool:
    """Whether the bytes before `offset` still are those that were read last; `read` bytes of the text are of this file."""
    size = min(read, COMPARED, len(text))
    stream.seek(offset - size)
    return stream.read(size) == bytes(text[len(text) - size :])


def is_lines(head: bytes) -> bool:
    """Whether a file is text that grows line by line. A JSON document is written anew each time."""
    start = head.lstrip()
    if not start or b"\0" in head or head.startswith(b"\x1f\x8b"):
        return False
    if start.startswith(b"{"):
        first, end, _ = start.partition(b"\n")
        return bool(end) and first.rstrip().endswith(b"}")
    return not start.startswith(b"[") or is_stamped(start)


def is_stamped(start: bytes) -> bool:
    """Whether a text begins with a time or level in brackets, as log lines do."""
    return re.match(rb"\[[^\]{}\n]*\]\s*\S", start) is not None and not start.startswith((b"[{", b"[["))


def why_unreadable(error: ReadError) -> str:
    return f"{error.why} ({error.hint})" if error.hint else error.why
