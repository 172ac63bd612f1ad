"""What a log reports in addition to numbers: crashes, running out of memory, skipped steps, resumes."""

import re
from collections.abc import Callable, Iterator

from traindx.vocabulary import ENDINGS, Event, EventKind

LONGEST_TRACE = 2000  # lines
MOST_EVENTS = 200  # of one log; more of the same kind say nothing new
MESSAGE = 300  # characters
LONGEST = 600  # characters of a line that are searched: a bar may come before what it ended with

TRACE = re.compile(
    r"^(?P<prefix>(?:(?P<name>[A-Za-z_][\w.]*)\s{2,})?.*?)Traceback \(most recent call last\)"
)
CHAIN = re.compile(r"the above exception|During handling of", re.IGNORECASE)
CHAINED = 5  # lines between such a sentence and the traceback that it announces
# A process group reports its end behind the progress bar that stood on the line.
RANK = re.compile(r"\[rank\d+\]: ?\[[EF]|\[[EF] ProcessGroup")
# A class of error and what it says; `MeanSquaredError: 0.31` is a metric (only a KeyError says but a
# number).
BARE = re.compile(
    r"^(?:[a-z_]\w*\.)*(?:KeyError: \S|(?:[A-Z]\w*Error|(?:[A-Z]\w*)?Exception): "
    r"(?![-+]?[\d.]+(?:[eE][-+]?\d+)?%?\s*(?:[,|;]|$))\S)"
)
ERROR = re.compile(
    r"^(?:Exception:|[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration|Warning|Fault|Expired|Timeout)\w*\b(?::|$))"
    r"|^[A-Za-z_]\w*(?:\.\w+)+:"
)
MEMORY = re.compile(
    r"out of memory|OutOfMemory|OUT_OF_MEMORY|OOM when allocating|oom-kill|ResourceExhausted|^MemoryError|ALLOC_FAILED"
    r"|DefaultCPUAllocator: can't allocate memory|^OSError: .{0,40}Cannot allocate memory",
    re.IGNORECASE,
)
DECIMALS, RECORD = re.compile(r"\d\.\d"), 3  # so many in one line are a record of a step
AT_STEP = re.compile(r"(?:iteration|step|iter|update)s?\s*[=:]?\s*(\d+)", re.IGNORECASE)
CODE = re.compile(
    r"""\(f?["']|^\s*(?:raise|except|if|elif|def|class|return|print|assert|import|from|@|\#|//|\+{1,4}\s)|["']\)|[{(\[:\\]$|f"|\w\(\)|;\s*$"""
)


def any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


SINGLES: tuple[tuple[EventKind, str, re.Pattern[str]], ...] = (
    ("out-of-memory", "", MEMORY),
    (
        "crash",
        "",
        any_of(
            r"loss (?:became infinite|is nan|is inf|is infinite)",
            r"invalid loss, terminating training",
            r"infinite or nan",
            r"non-?finite loss",
            r"loss returned .{0,40} is (?:nan|inf)",
            r"loss scale (?:already at minimum|reached its minimum)",
        ),
    ),
    (
        "crash",
        "",
        any_of(
            r"segmentation fault",
            r"core dumped",
            r"^\*\*\* (?:check failure|sig(?!term|int)\w+)",
            r"Check failed:",
            r"bus error",
            r"killed by signal",
            r"\bpanicked at ['\"]?[\w/]",
            r"\b(?:sub)?process (?:\w+ )?exited with (?:exit |return )?(?:code|status) -?[1-9]",
            r"watchdog (?:caught collective operation timeout|got stuck for \d)",
            r"device-side assert triggered",
            r"Assertion [`'].{1,150}['`] failed",
            r"^(?:\S+: line \d+: +\d+ )?killed\b",
        ),
    ),
    (
        "skipped-step",
        "",
        any_of(
            r"(?:gradient|grad|fp16|loss scaler?|scaler) overflow",
            r"overflow (?:detected|occurred)",
            r"overflow!",
            r"overflow.{0,60}(?:skip|loss scale)",
            r"skipping (?:this |the )?(?:step|updat|optimizer)",
            r"grad(?:ient)?[ _]norm is (?:nan|inf)",
            r"skipped? (?:the )?(?:step|update|batch)\b",
            r"inf or nan found",
        ),
    ),
    (
        "resume",
        "declared",
        any_of(
            r"\bresum(?:ing|ed)\b",
            r"restoring (?:previous|from|model|checkpoint|parameters)",
            r"restored? (?:from|checkpoint)",
            r"=> loaded checkpoint",
            r"loading (?:from|checkpoint|state)\b.*(?:model|checkpoint|ckpt|step|epoch|iter)[-_]?\d{3,}\S*"
            r"\.(?:pth?|ckpt|pkl|tar)",
            r"loaded checkpoint .*\((?:epoch|step)",
        ),
    ),
    (
        "stopped",
        "",
        any_of(
            r"^KeyboardInterrupt",
            r"stopping[_ ]early",
            r"early[_ ]stopp(?:ing|ed)",
            r"CANCELLED AT",
            r"DUE TO TIME LIMIT",
            r"received sig(?:term|int)",
            r"interrupted by user",
            r"^\*\*\* sig(?:term|int)\b",
        ),
    ),
)
# One of these is in every line that reports an event, in small letters: a search for them excludes most
# lines.
WORDS = (
    "traceback", "memory", "oom", "nan", "infinit", "finite", "is inf", "fault", "*** ", "check failed", "sig",
    "bus error", "core dumped", "overflow", "skip", "resum", "restor", "loaded", "loading", "interrupt", "stop",
    "cancel", "limit", "exhausted", "killed", "error:", "terminate called", "exception", "during handling", "loss scale",
    "watchdog", "assert", "terminating", "panicked", "exited with",
)  # fmt: skip


class EventLog:
    """Collects events with the line they came from. `stream` gives the lines that follow, for
    tracebacks; a line that turns out not to belong to one is handed to `give_back`."""

    def __init__(
        self, stream: Iterator[tuple[int, tuple[str, bytes]]], give_back: Callable[[str, int], None]
    ) -> None:
        self.stream, self.give_back = stream, give_back
        self.found: list[tuple[int, Event]] = []
        self.bursts: list[list[int]] = []  # first line, last line, count
        self.burst_text = ""
        self.chain = -CHAINED  # where a further error is announced that came while one was handled

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        """The handler for a line that reports an event, if it does. Source code that only
        mentions one does not count."""
        line = line[:LONGEST].strip().lstrip("\"'`")  # quoted in a question
        line = line.removeprefix("what():")  # how C++ announces the words of an exception
        small = line.lower()
        if not any(word in small for word in WORDS):
            return None
        if TRACE.match(line) and not CODE.search(line.replace("(most recent call last):", "")):
            return self.traceback
        if CHAIN.match(line.strip()):
            return self.chained
        if line.startswith("terminate called after throwing"):
            return self.thrown
        if CODE.search(line) and "Assertion `" not in line:
            return None
        for kind, code, pattern in SINGLES:
            if pattern.search(line):
                if kind == "crash" and len(DECIMALS.findall(line)) >= RECORD:
                    return None  # a record of a step, whose loss is not finite
                return self.skipped if kind == "skipped-step" else self.single(kind, code)
        return self.single("crash", "") if BARE.match(line) else None

    def single(self, kind: EventKind, code: str) -> Callable[[str, int], None]:
        def take(line: str, row: int) -> None:
            behind = RANK.search(line)
            cut = behind.start() if behind else 0
            self.add(row, kind, line[cut:], code)
            if line[:cut].strip():
                self.give_back(line[:cut], row)

        return take

    def add(self, row: int, kind: EventKind, text: str, code: str = "") -> None:
        message = " ".join(text.split())[:MESSAGE]
        same = sum(e.kind == kind for _, e in self.found)
        again = any(
            e.kind == kind
            and (repeats(e, message) if row - r < 40 else e.message == message)
            and not title(kind, r, row)
            for r, e in self.found[-20:]
        )
        if same >= MOST_EVENTS or again:
            return
        stated = AT_STEP.search(message) if kind == "crash" else None
        self.found.append(
            (row, Event(kind, message, float(stated[1]) if stated else None, f"line {row}", code))
        )

    def skipped(self, line: str, row: int) -> None:
        """Overflow lines come in bursts; one event each, with the count."""
        if self.bursts and row - self.bursts[-1][1] < 25:
            self.bursts[-1][1] = row
            self.bursts[-1][2] += 1
        elif len(self.bursts) < MOST_EVENTS:
            self.bursts.append([row, row, 1])
        self.burst_text = " ".join(line.split())[:MESSAGE]

    def thrown(self, line: str, row: int) -> None:
        """C++ names the class of an exception, and says in the next line what it is."""
        number, (follow, _) = next(self.stream, (row, ("", b"")))
        text = follow.strip()
        if text.startswith("what():"):
            line = text.removeprefix("what():").strip()
        self.add(row, kind_of_error(line), line)
        if text and text.removeprefix("what():").strip() != line:
            self.give_back(follow, number)

    def chained(self, line: str, row: int) -> None:
        """The next traceback is of an error that came while the one before was handled."""
        self.chain = row

    def traceback(self, line: str, row: int) -> None:
        """Pass over the body; the line that names the error ends it: the first one that is not indented, or
        (in a notebook, where files and arrows are between the lines of code) that begins with the name in
        the heading. Of a chain of errors the first one is the reason, the others came while it was
        handled."""
        opening = TRACE.match(line)
        assert opening is not None
        prefix, name = opening["prefix"], opening["name"] or ""
        for count, (number, (follow, _)) in enumerate(self.stream):
            text = follow if name else follow.removeprefix(prefix)
            inside = not text.strip() or text[0] in " \t" or text.startswith("Traceback")
            if inside or (name and not text.startswith(name)):
                if count > LONGEST_TRACE:
                    break
                continue
            if ERROR.match(text) or name:
                later = row - self.chain <= CHAINED
                self.add(row, "note" if later else kind_of_error(text), text, "later-error" if later else "")
            else:
                self.add(row, "crash", "a traceback without its last line")
                self.give_back(follow, number)
            return
        self.add(row, "crash", "a traceback that is cut off")

    def all(self) -> list[tuple[int, Event]]:
        """Every event with its line, in the order of the file."""
        bursts = [
            (
                first,
                Event(
                    "skipped-step",
                    f"{count} skipped or overflowed step{'s' * (count > 1)}: {self.burst_text}",
                    None,
                    f"line {first}",
                ),
            )
            for first, _, count in self.bursts
        ]
        return sorted(self.found + bursts, key=lambda item: item[0])


def title(kind: EventKind, first: int, row: int) -> bool:
    """Whether an error that comes again was only quoted in the first line, as the title of a question."""
    return kind in ENDINGS and first == 1 and row > first + 1


def repeats(before: Event, message: str) -> bool:
    """Whether an event says what one shortly before it said, though with other numbers."""
    bare = re.sub(r"\d+", "", message)  # each thread of a kernel repeats the words with its own number
    same = before.kind == "crash" and bare == re.sub(r"\d+", "", before.message)
    return before.kind in ("stopped", "resume") or before.message == message or same


def kind_of_error(text: str) -> EventKind:
    if MEMORY.search(text):
        return "out-of-memory"
    return "stopped" if text.startswith("KeyboardInterrupt") else "crash"
