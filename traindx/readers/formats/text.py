"""Text logs of any format: prints, progress bars, boxed tables, logging lines, pasted snippets.

The reader knows no list of formats. It learns the kinds of lines of the file at hand, finds the
counter they share, and keeps what goes with it; a few forms that no grammar can read (boxes,
tables under headings, detector summaries) are in separate modules of `textlog`.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

from traindx.readers.api import Event, NotALog, RawLog, ReadError, Source, np
from traindx.readers.textlog.axis import Axis, find_axis
from traindx.readers.textlog.columns import bits_to_nats, columns_of, roles_of
from traindx.readers.textlog.counting import count_of, epoch_line
from traindx.readers.textlog.lines import encoding_of, signed_lines
from traindx.readers.textlog.outcome import ends_of_passes, events_of, framework_of
from traindx.readers.textlog.scanner import Scanner
from traindx.readers.textlog.seams import at_seams
from traindx.readers.textlog.select import select
from traindx.readers.textlog.shapes import Shape, by_heading, is_prose, of_gradients, shapes_of
from traindx.readers.textlog.tables import is_heading, row_cells

NAME = "text"
FILES = ("*.log", "*.out", "*.err", "*.txt", "*.md", "*.gz")
OF_QUESTIONS = ("symptoms", "noticed", "mistakes", "described")  # facts from the words of a question
MOST = 0.5
LIVED = 200  # lines after an error that only a program that goes on writes: launchers stop within fewer
LISTED = 50  # lines of one kind that can be part of a listing of code
BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
STAMPED = re.compile(
    r"\s*\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d?:\d\d:\d\d(?:[.,]\d+)?\]?:?(?:\s+(?:-|INFO:?|[\w.]+:))*\s+"
    r"(?P<numbers>(?:\d+\s+)*-?\d+\.\d+(?:e-?\d+)?)\s*"
)
ENOUGH = 20  # rows, to read numbers of which nothing says what they are
HOLE = re.compile(rb"\x00{16,}")  # of a file that was emptied while it was written, as `clean_text` knows
METRIC = re.compile(
    rb"(?i)(?:loss|acc|perplexity|ppl|error|reward|\blr\b|epoch|step|iter)[\w'\"/\-)]{0,40}[\s:=|(\[]{1,12}-?(?:\d|nan|inf)"
)
TWO_COLUMNS = re.compile(r"\d+\s+-?(?:\d+\.\d*(?:e[-+]?\d+)?|nan|inf)")


def sniff(source: Source) -> float:
    """0 for what is not text, little for any text, at most 0.5 for text that mentions losses and
    steps: a format that knows its own bytes comes first."""
    head = source.head
    if not head.strip() or not is_text(head):
        return 0.0
    if is_json(head) or is_separated(head):
        return 0.02
    if is_table(head):
        return 0.45
    found = len(METRIC.findall(head))
    return 0.5 if found >= 3 else 0.35 if found else 0.1


def is_text(head: bytes) -> bool:
    """Whether bytes are text: few control characters, in an encoding that is known, or with metrics in what
    is ASCII (a model summary drawn in the box characters of another encoding comes before the log)."""
    if encoding_of(head) == "utf-16":
        return True
    head = HOLE.sub(b"", head)
    odd = len(BINARY.findall(head))
    broken = head.decode("utf-8", errors="replace").count("\ufffd")
    return odd <= 0.01 * len(head) + 1 and (broken <= 0.1 * len(head) or METRIC.search(head) is not None)


def is_json(head: bytes) -> bool:
    """Whether a text is one JSON document or JSON Lines throughout: other readers' work."""
    lines = [line for line in head.split(b"\n")[:50] if line.strip()]
    if not lines or lines[0].lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        return len(lines) > 1 and lines[0].strip() in (b"{", b"[")
    return True


def is_table(head: bytes) -> bool:
    """Whether numbers are in columns of blanks, under headings or with a counter before one."""
    lines = [
        line.strip()
        for line in head[:8192].decode("utf-8", errors="replace").splitlines()[:40]
        if line.strip()
    ]
    pairs = sum(bool(TWO_COLUMNS.fullmatch(line)) for line in lines[:-1])
    headed = any(
        is_heading(a) and (row_cells(b) or row_cells(c))
        for a, b, c in zip(lines, lines[1:], lines[2:], strict=False)
    )
    return headed or (pairs > 2 and pairs == len(lines) - 1)


def is_separated(head: bytes) -> bool:
    """Whether a text is a table of comma or tab separated values throughout."""
    lines = [line for line in head.split(b"\n")[:30] if line.strip()]
    for mark in (b",", b"\t", b";"):
        counts = {line.count(mark) for line in lines[:-1] or lines}
        if (
            len(lines) > 1
            and len(counts) == 1
            and counts.pop() > 0
            and b":" not in lines[-1]
            and b"=" not in lines[-1]
        ):
            return True
    return False


def read(source: Source) -> list[RawLog]:
    """The log in a text. Raises ReadError when it is not text or cannot be opened, NotALog when
    nothing in it looks like the record of a training run."""
    if not is_text(source.head):
        raise ReadError(
            source.name, "is not text", hint="give the log itself, not a checkpoint or an archive"
        )
    if source.head.startswith(b"version https://git-lfs.github.com/spec"):
        raise ReadError(
            source.name, "is a Git LFS pointer, not the log itself", hint="fetch it with `git lfs pull`"
        )
    scanner, damage = scan(source)
    if not scanner.last_row:
        raise ReadError(source.name, "is empty", hint="the run may not have written anything yet")
    log = understood(source.name, scanner)
    if not log.columns and any(log.facts.get(name) for name in OF_QUESTIONS):
        log.events.append(Event("note", "the question has words and no record of a step", code="words-only"))
    elif not log.columns and (not log.events or lived_on(scanner)):
        if (bare := bare_rows(source)) is not None:
            return bare
        raise NotALog(
            source.name,
            "no line in it looks like the record of a training step",
            hint="a text log needs lines such as `step 10 loss 2.3`"
            + (": paste them below the question" if scanner.facts.asked else ""),
        )
    log.events += damage
    return [log]


def bare_rows(source: Source) -> list[RawLog] | None:
    """The log in rows of nothing but numbers behind a time stamp, the last one a fraction
    (`2022-05-09 19:29:18,641 - 0  12  1.583`); None where there are few."""
    from traindx.readers.formats import csv_table  # the rest of the logs needs no other reader

    with source.open() as stream:
        found = (STAMPED.fullmatch(line) for _, (line, _) in signed_lines(stream))
        rows = ["\t".join(row["numbers"].split()) for row in found if row is not None]
    widths = Counter(row.count("\t") for row in rows)
    width, most = max(widths.items(), key=lambda item: item[1], default=(0, 0))
    if most < ENOUGH:
        return None
    data = "\n".join(row for row in rows if row.count("\t") == width).encode()
    return csv_table.read(Source(source.name, data=data, head=data[: len(source.head)]))


def lived_on(scanner: Scanner) -> bool:
    """Whether a program without a record of a step (a server) went on at length after every error that it
    reported: then none of them ended anything."""
    return all(scanner.last_row - row > LIVED for row, _ in scanner.events.all())


def scan(source: Source) -> tuple[Scanner, list[Event]]:
    """Read all lines; a stream that breaks in the middle keeps what was read and says where."""
    damage: list[Event] = []
    try:
        with source.open() as stream:
            scanner = Scanner(signed_lines(stream))
            try:
                scanner.run()
            except (EOFError, OSError, ValueError) as error:
                if not scanner.last_row:
                    raise
                damage.append(
                    Event("parse-warning", f"the file breaks off: {error}", place=f"line {scanner.last_row}")
                )
    except (EOFError, OSError) as error:
        raise ReadError(source.name, f"cannot be read: {error}") from error
    if scanner.dropped:
        damage.append(
            Event("parse-warning", f"{scanner.dropped} lines of too many different shapes were passed over")
        )
    return scanner, damage


def understood(name: str, scanner: Scanner) -> RawLog:
    """What the lines say together: columns, steps, facts and events."""
    shapes = [
        s
        for s in kinds_of_lines(scanner)
        if not (is_listed(s, scanner) or is_prose(s) or complains(s, scanner))
    ]
    shapes, epochs = ends_of_passes(shapes, epoch_line(shapes))
    counts = [count_of(shape, epochs) for shape in shapes]
    axis = find_axis(shapes, counts)
    kept = select(shapes, counts, axis)
    log = RawLog(name, NAME)
    log.columns, log.units = columns_of(kept, by_epoch=axis is not None and axis.kind == "epoch")
    converted = bits_to_nats(log.columns, log.units)
    log.roles = roles_of(log.columns, log.units)
    log.axis_kind = "row" if axis is None else {"epoch": "epoch", "row": "row"}.get(axis.kind, "step")
    first = min((int(s.rows[0]) for s in kept), default=scanner.last_row + 1)
    log.facts = dict(scanner.facts.before(first))
    if axis is not None:
        plan(log, axis)
        log.boundaries = boundaries(scanner, axis)
    log.framework = framework_of(scanner, list(log.columns))
    if log.framework == "deeplearning4j":  # whose score is the loss
        log.roles |= {name: "train/loss" for name in log.columns if name.lower() == "score"}
    events = events_of(scanner, kept, axis)
    if axis is not None and log.facts.get("symptoms"):
        events = sorted([*events, *at_seams(log, axis, scanner.facts.seams)], key=lambda found: found[0])
    log.events = [event for _, event in events]
    if converted:
        log.events.append(Event("note", converted, code="bits-to-nats"))
    log.event_rows = {i: row for i, (row, _) in enumerate(events)}
    return log


def kinds_of_lines(scanner: Scanner) -> Iterable[Shape]:
    """What was read, by kind of line, in the terms that headings and the rest of the text give it."""
    found = by_heading(shapes_of(scanner.variants, scanner.records), scanner.headings)
    return of_gradients(found) if scanner.facts.gradients else found


def complains(shape: Shape, scanner: Scanner) -> bool:
    """Whether a kind of line that comes once is a sentence of a question that says what is wrong."""
    return scanner.facts.asked and len(shape) == 1 and int(shape.rows[0]) in scanner.facts.sentences


def is_listed(shape: Shape, scanner: Scanner) -> bool:
    """Whether all lines of a kind are in source code that was printed into the log."""
    return len(shape) <= LISTED and all(scanner.facts.is_in_code(int(row)) for row in shape.rows)


def plan(log: RawLog, axis: Axis) -> None:
    """Where the run is planned to end, as the counters themselves say (`125/3242`, `Epoch 6/25`)."""
    if axis.kind == "epoch" and axis.total:
        log.facts["planned_epochs"] = axis.total
    elif axis.total:
        log.facts["planned_steps"] = axis.total
    if axis.epochs:
        log.facts["planned_epochs"] = axis.epochs


def boundaries(scanner: Scanner, axis: Axis) -> list[int]:
    """First rows of stretches in which the counter falls back after a heading or a banner."""
    falls = np.flatnonzero(np.diff(axis.steps) < 0)
    found = []
    for i in falls:
        before, after = int(axis.rows[i]), int(axis.rows[i + 1])
        place = bisect_left(scanner.marks, before)
        if place < len(scanner.marks) and scanner.marks[place] < after:
            found.append(after)
    return found
