"""Bytes to runs. One file per format; the format is chosen by its content.

`read_all(paths)` is the way in. A format module has `NAME`, `sniff(source) -> 0..1` and
`read(source) -> list[RawLog]`, and for formats that are folders `sniff_folder` and `read_folder`.
It may declare what saves importing it for files of other formats:

- `MOST`, the most that it ever claims;
- `BEGINS`, bytes with one of which every file of the format begins (byte order mark and blanks aside);
- `HOLDS`, what the first 64 KiB of every such file hold, all of it, with `|` between alternatives;
- `ZEROS = True`, that there is a zero byte near the beginning.

`FILES` are patterns of file names, in lower case, that are worth opening in a folder.
The package is walked: a new format is one new file. An index of these constants (`docs.generate` writes it)
lets a reader be chosen without importing those that cannot win.
"""

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from traindx.errors import NotALog, ReadError
from traindx.installed import index_rows, modules_of
from traindx.readers.assembly.runs import assemble
from traindx.readers.assembly.script_output import PRINTED
from traindx.readers.files.text_blocks import UTF16, as_plain_text
from traindx.readers.raw import RawColumn, RawLog, Source, read_pipe, reason, source_of
from traindx.vocabulary import ENDINGS, STANDARD_INPUT, Event, Run

Progress = Callable[[str], None]
START = 4096  # bytes in which formats that have zero bytes have one
SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        "__pycache__",
        "node_modules",
        ".venv",
        "venv",
        "site-packages",
        ".ipynb_checkpoints",
        "traindx-fix",
    }  # trials of `traindx fix`: no runs of the user
)


@cache
def catalogue() -> tuple[ModuleType, ...]:
    """All format modules, by name."""
    from traindx.readers import formats

    return tuple(
        importlib.import_module(name) for name in sorted(modules_of(formats.__name__, formats.__path__))
    )


def read_all(
    paths: Iterable[str | Path], mapping: Mapping[str, str] | None = None, progress: Progress | None = None
) -> tuple[Run, ...]:
    """All runs found in `paths` (files, folders, globs, "-" for standard input).

    Raises ReadError for the first path in which nothing can be read; what is damaged but partly
    whole is read, with the damage as an event of its run.
    """
    runs: list[Run] = []
    for path in paths:
        runs += read_path(str(path), mapping, progress)
    return tuple(runs)


def read_path(
    path: str, mapping: Mapping[str, str] | None = None, progress: Progress | None = None
) -> list[Run]:
    """All runs in one path."""
    logs: list[RawLog] = []
    for place in expand(path):
        if progress:
            progress(str(place))
        try:
            logs += read_stdin() if place == "-" else read_place(Path(place))
        except MemoryError as error:
            raise ReadError(
                place, f"not enough memory to read it ({size_of(place)})", hint=SMALLER
            ) from error
    runs = [with_own_words(run) for log in merge_groups(logs) for run in assemble(log, mapping)]
    if not any(run.series or run.panels or run.events for run in runs):
        raise NotALog(
            path,
            "nothing in it looks like a training log",
            hint="see `traindx diagnose --help` for the formats read",
        )
    return runs


def size_of(place: str) -> str:
    """How large a file is, in words."""
    path = Path(place)
    return (
        f"{path.stat().st_size / 1e6:.3g} MB"
        if path.is_file()
        else "a folder"
        if path.is_dir()
        else "a pipe"
    )


def with_own_words(run: Run) -> Run:
    """A recorded run with what the script itself logged and printed, which is in the same folder."""
    if run.format != RECORDED or not Path(run.source).is_dir():
        return run
    from traindx.readers.assembly import script_output

    return script_output.complete_run(run, Path(run.source), read_file)


def expand(path: str) -> list[str]:
    """A path as given, or the matches of a glob that the shell did not expand."""
    if path == "-" or Path(path).exists():
        return [path]
    import glob

    matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
    if not matches:
        raise ReadError(path, "there is no such file or folder")
    return matches


def read_stdin() -> list[RawLog]:
    return read_source(read_pipe(STANDARD_INPUT, sys.stdin.buffer))


def read_place(place: Path) -> list[RawLog]:
    """The logs of a file or of a folder tree."""
    return read_folder(place) if place.is_dir() else read_file(place)


def read_file(path: Path) -> list[RawLog]:
    """The logs of a file that was named, which may be a pipe such as <(grep loss train.log)."""
    try:
        if path.is_fifo():
            with open(path, "rb") as stream:
                return read_source(read_pipe(str(path), stream))
        if path.stat().st_size == 0:
            raise ReadError(str(path), "is empty", hint="the run may not have written anything yet")
    except OSError as error:
        raise ReadError(str(path), f"cannot be opened: {reason(error)}") from error
    return read_source(source_of(path))


def read_source(source: Source) -> list[RawLog]:
    """Read by the format that claims the bytes most surely; if it then finds nothing, by the
    next that claims them at all."""
    refuse_pointer(source)
    failure: ReadError | None = None
    for module in claiming_formats(source):
        try:
            logs: list[RawLog] = module.read(source)
        except ReadError as error:
            if error.final:
                raise
            failure = failure or error
            continue
        if any(log.columns or log.panels or log.events for log in logs):
            return logs
    if failure is not None:
        raise failure
    raise NotALog(source.name, "no known format", hint="give a text, CSV, JSON, TensorBoard or W&B log")


class Listed(NamedTuple):
    """The constants of a format module, and whether it reads files and folders."""

    home: str
    name: str
    most: float
    zeros: bool
    files: bool
    folders: bool
    patterns: tuple[str, ...]
    begins: tuple[bytes, ...]
    holds: tuple[bytes, ...]

    def may_claim(self, head: bytes, text: bytes) -> bool:
        """Whether a file may be of this format, by its first bytes as they are and as text without blanks
        before it."""
        start = head[:START]
        if self.zeros and (b"\0" not in start or start.startswith(UTF16)):
            return False
        begins = not self.begins or head.startswith(self.begins) or text.startswith(self.begins)
        return begins and all(any(word in text for word in words.split(b"|")) for words in self.holds)


@cache
def list_entries() -> tuple[Listed, ...]:
    """Every format, from the index; where that does not name the files that are there, from the modules."""
    from traindx.readers import formats

    known = index_rows(__name__)
    if modules_of(formats.__name__, formats.__path__) == {home for home, *_ in known}:
        return tuple(Listed(*row) for row in known)
    return tuple(map(facts_of, catalogue()))


def facts_of(module: ModuleType) -> Listed:
    most, zeros = getattr(module, "MOST", 1.0), getattr(module, "ZEROS", False)
    kinds = hasattr(module, "sniff"), hasattr(module, "sniff_folder")
    names = (getattr(module, constant, ()) for constant in ("FILES", "BEGINS", "HOLDS"))
    return Listed(module.__name__, module.NAME, most, zeros, *kinds, *names)


def claiming_formats(source: Source) -> Iterator[ModuleType]:
    """The formats that claim the bytes, the surest first (then by name). A format is imported and asked only
    when the bytes fit what it declares, and when none of those asked before is surer than it could be."""
    text = as_plain_text(source.head).lstrip()
    asked: list[tuple[float, str, ModuleType]] = []
    for entry in sorted((e for e in list_entries() if e.files), key=lambda e: (-e.most, e.name)):
        if not entry.may_claim(source.head, text):
            continue
        while asked and asked[0][:2] < (-entry.most, entry.name):
            yield asked.pop(0)[2]
        module = importlib.import_module(entry.home)
        if (claim := module.sniff(source)) > 0:
            asked = sorted([*asked, (-claim, entry.name, module)], key=lambda a: a[:2])
    yield from (module for _, _, module in asked)


def refuse_pointer(source: Source) -> None:
    if source.head.startswith(b"version https://git-lfs.github.com/spec"):
        raise ReadError(
            source.name, "is a Git LFS pointer, not the log itself", hint="fetch it with `git lfs pull`"
        )


def read_folder(path: Path) -> list[RawLog]:
    """The logs of a folder: as a whole if a format claims it, else of its files and sub-folders.

    Files that no format claims are passed over; a folder in which nothing is found is an error."""
    logs = walk(path)
    if not logs:
        raise NotALog(
            str(path), "no training log in this folder", hint="name a file, or a folder that holds logs"
        )
    return logs


SURE = 0.3  # a claim from which on a file is a separate log
SMALLER = "allow more (ulimit -v), or cut out a part of it"
RECORDED = "traindx"  # the format of recorded runs
DIARY = ".launch"  # marks the folder of a started script; what it printed is in `PRINTED`
FOREIGN = 5  # logs of other formats next to a run's own files: more than any tool leaves in one folder


def is_collection(path: Path, module: ModuleType) -> bool:
    """Whether a folder that `module` claims as one run holds many unrelated logs: at least
    five files that other formats claim surely. Then each is read by itself. A format that is `WHOLE`
    owns everything in its folder."""
    if getattr(module, "WHOLE", False):
        return False
    foreign = 0
    for file in sorted(p for p in path.iterdir() if p.is_file() and looks_like_log(p))[:64]:
        source = source_of(file)
        first = next(claiming_formats(source), None)
        foreign += first is not None and first is not module and first.sniff(source) >= SURE
        if foreign >= FOREIGN:
            return True
    return False


def folder_format(path: Path) -> ModuleType | None:
    """The format that reads a folder as one run; None where its files are read one by one."""
    folders = [importlib.import_module(entry.home) for entry in list_entries() if entry.folders]
    claims = sorted(((m.sniff_folder(path), m.NAME, m) for m in folders), key=lambda c: (-c[0], c[1]))
    if claims and claims[0][0] > 0.5 and not is_collection(path, claims[0][2]):
        return claims[0][2]
    return None


def read_printed(folder: Path, mapping: Mapping[str, str] | None = None) -> tuple[Run, ...]:
    """The runs in what a started script printed; none where it printed no log and no error."""
    return tuple(run for log in printed_logs(folder) for run in assemble(log, mapping))


def printed_logs(folder: Path) -> list[RawLog]:
    """The logs in a script's output. The error that ended it is usually in the other stream than its numbers."""
    logs, errors = [], []
    for name in PRINTED:
        with contextlib.suppress(ReadError):  # a stream may be missing, empty or no log
            for log in read_file(folder / name):
                if log.columns or log.panels:
                    logs.append(log)
                else:
                    errors += [event for event in log.events if event.kind in ENDINGS]
    if logs:
        logs[-1].events += errors
        return logs
    return [RawLog(str(folder), "text", events=errors)] if errors else []


def walk(path: Path) -> list[RawLog]:
    module = folder_format(path)
    logs: list[RawLog] = []
    if module is not None:
        logs = module.read_folder(path)
        return logs
    started = (path / DIARY).is_file()
    if started:
        logs = printed_logs(path)
    try:
        entries = sorted(path.iterdir())
    except OSError as error:
        raise ReadError(str(path), f"cannot be opened: {reason(error)}") from error
    for entry in entries:
        if entry.is_dir() and entry.name not in SKIPPED_FOLDERS and not entry.is_symlink():
            logs += walk(entry)
        elif started and entry.name in (DIARY, *PRINTED):
            continue
        elif entry.is_file() and looks_like_log(entry):
            try:
                logs += [log for log in read_file(entry) if log.columns or log.panels]
            except ReadError as error:
                note_damage(logs, error)
    return logs


def looks_like_log(path: Path) -> bool:
    """Whether a file found in a folder is worth opening: by name, as a tree may hold data sets."""
    name = path.name.lower()
    return not path.suffix or any(
        fnmatchcase(name, pattern) for entry in list_entries() for pattern in entry.patterns
    )


def note_damage(logs: list[RawLog], error: ReadError) -> None:
    """A broken file next to whole ones is reported, not fatal."""
    if logs and not isinstance(error, NotALog):
        logs[-1].events.append(
            Event("parse-warning", f"{Path(error.path).name}: {error.why}", place=error.where)
        )


def merge_groups(logs: list[RawLog]) -> list[RawLog]:
    """Logs that name the same group are parts of one run: their columns are put together."""
    merged: dict[str, RawLog] = {}
    out: list[RawLog] = []
    for log in logs:
        if not log.group or log.group not in merged:
            out.append(log)
            if log.group:
                merged[log.group] = log
            continue
        into = merged[log.group]
        offset = 1 + max((int(c.rows[-1]) for c in into.columns.values() if len(c.rows)), default=-1)
        for name, column in log.columns.items():
            into.columns[name if name not in into.columns else f"{name}'"] = RawColumn(
                column.values, column.rows + offset, column.steps, column.times
            )
        into.facts |= log.facts
        into.events += log.events
    return out
