"""One pass over the lines: each goes by its signature to the template or form that reads it.

The signature of a line is the line without digits and blanks. A line whose signature is new is studied once
(`Scanner.learn`); all that follow cost one dictionary access and one match. Lines that hold nothing are
remembered as such.

Results of object detectors come as prose: COCO's twelve summary lines and detectron2's `copypaste:` pairs of
lines. Both are printed before the step line they belong to.

A metric's whole history may be one line: `train_loss = [0.9, 0.5, 0.3]`, one value an epoch or a step."""

import re
from array import array
from collections.abc import Callable, Iterator
from itertools import zip_longest

from traindx.readers.textlog.events import EventLog
from traindx.readers.textlog.facts import Facts
from traindx.readers.textlog.grammar import LONGEST_LINE, Field, Parsed, parse
from traindx.readers.textlog.kaldi import Kaldi
from traindx.readers.textlog.keys import Key, metric_name
from traindx.readers.textlog.lines import Boxes, signature
from traindx.readers.textlog.records import Records
from traindx.readers.textlog.tables import Tables
from traindx.readers.textlog.variants import Variant
from traindx.readers.textlog.words import HEADING, evidence, role_of_key

Handler = Callable[[str, int], None]

OF_TOTAL = re.compile(r"\d\s*/\s*\d")  # `Epoch 3/10`: the same again is no further record
HOLDS_VALUE = re.compile(r"\d|nan|inf", re.IGNORECASE)
MOST_SIGNATURES = 50_000  # remembered at a time
MOST_VARIANTS = 20_000  # templates with numbers kept in all
# Lines of new shapes that are always taken apart, and those that mention training: a log repeats its
# shapes, prose and code do not.
STUDIED, MOST_STUDIED = 5_000, 20_000
MOST_STRAYS = 40_000  # lines of a known signature that no template fits
MENTIONS = re.compile(r"loss|acc|epoch|step|iter|rew|error|\blr\b", re.IGNORECASE)
MOST_TEMPLATES = 64  # templates of one signature
FRUITLESS = (
    2_000  # lines of one signature, one after the other, that fit none of so many: each has its own names
)
# Headings, banners and printed options: at these a text may begin to report another run.
MARK = re.compile(
    r"^#{1,6}\s+\S|Namespace\(|Initializing solver|^\$ |^Command line|\brun (?:id|name)\s*[:=]"
    r"|^(?:-{3,}|={3,}|\*{3,})\s*\w.*\w\s*(?:-{3,}|={3,}|\*{3,})?$"
    r"|^\s*(?:start(?:ing|ed)?\s+(?:training|run)|train(?:ing)?\s+start(?:s|ed)?|begin(?:ning)?\s+training|new run)\b",
    re.IGNORECASE,
)
WRAPPED = re.compile(r"^\s*(?:\[\w+\]:\s*)?iteration\s+\d+/\s*\d+\s*\|.*[^|\s]\s*$")
MOST_WRAPS = 12  # lines that one record can be wrapped over
# A record of a JSON file, one name a line, as it is pasted out of a `trainer_state.json`.
NAMED_VALUE = re.compile(r"\s*\"[\w /.@()-]+\": *(?:[-+\w.]+|\"[^\"]*\"),?\s*")
MOST_NAMES = 60


class Scanner:
    """Reads numbered lines; afterwards `variants`, `records`, `events`, `facts` and `marks` hold
    what was found, and `lines`, `wordy` how many lines there were and how many looked like code."""

    def __init__(self, stream: Iterator[tuple[int, tuple[str, bytes]]]) -> None:
        self.stream = stream
        self.handlers: dict[bytes, Handler | None] = {}
        self.templates: dict[bytes, list[Variant]] = {}
        self.fruitless: dict[bytes, int] = {}
        self.variants: list[Variant] = []
        self.records = Records()
        self.boxes = Boxes(self.records)
        self.tables = Tables(self.records)
        self.detection = Detection(self.records)
        self.histories = Histories(self.records)
        self.kaldi = Kaldi(self.records)
        self.events = EventLog(stream, self.dispatch)
        self.facts = Facts()
        self.marks = array("q")
        self.headings = {"train": array("q"), "val": array("q")}  # rows that name a side and nothing else
        self.last_row = 0
        self.dropped = self.studied = self.strays = 0

    def run(self) -> None:
        """Read the whole stream."""
        get, learn = self.handlers.get, self.learn
        row, before = 0, ""
        for row, (line, mark) in self.stream:
            handler = get(mark, learn)
            if handler is None:
                continue
            if line != before or not OF_TOTAL.search(line):  # else a screen that is redrawn, or another rank
                handler(line, row)
            before = line
        self.last_row = max(row, self.last_row)
        self.boxes.flush()
        self.detection.replace_tables()
        if not any(evidence(field.name) == 2 for variant in self.variants for field in variant.fields):
            self.histories.flush()

    def dispatch(self, line: str, row: int) -> None:
        """Read one line out of turn."""
        handler = self.handlers.get(signature(line), self.learn)
        if handler is not None:
            handler(line, row)

    def learn(self, line: str, row: int) -> None:
        """Study a line of a new signature, find what reads its kind, and let it."""
        self.last_row = row
        if len(line) > LONGEST_LINE:
            return
        mark = signature(line)
        handler = self.find_form(line)
        if handler is None and not (
            self.studied < STUDIED or (self.studied < MOST_STUDIED and MENTIONS.search(line))
        ):
            self.dropped += bool(HOLDS_VALUE.search(line))
            return
        self.studied += handler is None
        self.facts.offer(line, row)
        if handler is None and HEADING.fullmatch(line):
            handler = self.note_heading
        if handler is None and MARK.search(line[:300]):
            self.mark_and_read(mark, line, row)
            return
        if handler is None and HOLDS_VALUE.search(line):
            parsed = parse(line)
            if parsed.fields:
                self.remember(mark, None)
                self.add_variant(mark, line, parsed, row)
                return
        self.remember(mark, handler)
        if handler is not None:
            handler(line, row)

    def mark_and_read(self, mark: bytes, line: str, row: int) -> None:
        """A banner may hold a counter, too (`===== Step 100 =====`): note it and read it."""

        def both(text: str, number: int) -> None:
            self.marks.append(number)
            self.read_plain(text, number)

        self.remember(mark, both)
        both(line, row)

    def note_heading(self, line: str, row: int) -> None:
        """Note a line such as `Validation:`; as a banner it may begin another run, too."""
        self.headings[role_of_key(line)].append(row)
        if MARK.search(line):
            self.marks.append(row)

    def find_form(self, line: str) -> Handler | None:
        """The special form that claims a line, if any."""
        if not line.strip():
            return None
        if "iteration" in line and WRAPPED.match(line):
            return self.wrapped
        if line.strip() in ("{", "[{"):
            return self.read_braced_object
        forms = (self.detection, self.kaldi, self.boxes, self.tables, self.histories, self.events)
        return next((h for h in (form.claims(line) for form in forms) if h is not None), None)

    def remember(self, mark: bytes, handler: Handler | None) -> None:
        """Keep a signature; when there are too many, forget those that hold nothing."""
        if len(self.handlers) >= MOST_SIGNATURES:
            kept = {s: h for s, h in self.handlers.items() if s in self.templates}
            self.handlers.clear()
            self.handlers.update(kept)
        if len(self.handlers) < 2 * MOST_SIGNATURES:
            self.handlers[mark] = handler

    def add_variant(self, mark: bytes, line: str, parsed: Parsed, row: int) -> None:
        """A new template for lines of this signature."""
        if len(self.variants) >= MOST_VARIANTS:
            self.dropped += 1
            return
        templates = self.templates.setdefault(mark, [])

        def another(text: str, number: int) -> None:
            self.next_template(mark, text, number)

        variant = Variant(line, parsed, another)
        variant.put(line, parsed, row)
        templates.append(variant)
        self.variants.append(variant)
        self.handlers[mark] = variant.take

    def next_template(self, mark: bytes, line: str, row: int) -> None:
        """A line whose signature is known and whose template does not fit: another of the same
        signature may, else it is studied."""
        templates = self.templates[mark]
        if self.fruitless.get(mark, 0) >= FRUITLESS:
            self.dropped += 1
            return
        for variant in templates:
            if variant.fits(line):
                variant.take(line, row)
                self.handlers[mark] = variant.take
                self.fruitless[mark] = 0
                return
        self.strays += 1
        if self.strays > MOST_STRAYS:
            self.dropped += 1
            return
        parsed = parse(line)
        if len(templates) < MOST_TEMPLATES:
            if parsed.fields:
                self.add_variant(mark, line, parsed, row)
            return
        same = next(
            (
                v
                for v in templates
                if v.fields == parsed.fields and v.parsed.rank == parsed.rank and v.accepts(line, parsed)
            ),
            None,
        )
        if same is not None:
            same.put(line, parsed, row)
            self.fruitless[mark] = 0
            return
        self.fruitless[mark] = self.fruitless.get(mark, 0) + 1
        self.dropped += bool(parsed.fields)

    def wrapped(self, line: str, row: int) -> None:
        """A `|`-separated record that was wrapped at the width of a terminal: put together again."""
        parts = [line]
        rest: list[tuple[str, int]] = []
        while not parts[-1].rstrip().endswith("|") and len(parts) < MOST_WRAPS:
            number, (follow, _) = next(self.stream, (0, ("", b"")))
            if not number:
                break
            rest.append((follow, number))
            if not follow.strip() or WRAPPED.match(follow):
                break
            parts.append(follow)
        whole = parts[-1].rstrip().endswith("|")
        self.read_plain(join_pieces(parts) if whole else line, row)
        for follow, number in [] if whole else rest:
            self.dispatch(follow, number)

    def read_braced_object(self, line: str, row: int) -> None:
        """A JSON object over several lines: one record where it counts steps or epochs."""
        pairs: list[tuple[str, int]] = []
        rest: list[tuple[str, int]] = []
        for number, (follow, _) in self.stream:
            if len(pairs) >= MOST_NAMES or not NAMED_VALUE.fullmatch(follow):
                rest.append((follow, number))
                break
            pairs.append((follow, number))
        whole = "{" + " ".join(follow.strip() for follow, _ in pairs) + "}"
        if '"step":' in whole or '"epoch":' in whole:
            self.read_plain(whole, row)
            pairs = []
        for follow, number in pairs + rest:
            self.dispatch(follow, number)

    def read_plain(self, line: str, row: int) -> None:
        """Read a line by templates only, past the special forms."""
        mark = b"\n" + signature(line)
        templates = self.templates.get(mark)
        if templates:
            templates[0].take(line, row)
        elif (parsed := parse(line[:LONGEST_LINE])).fields:
            self.add_variant(mark, line, parsed, row)


def join_pieces(parts: list[str]) -> str:
    """Pieces of a line as one: cut anywhere when all but the last are of one width, else between
    words."""
    one_width = len(parts) > 2 and len({len(p) for p in parts[:-1]}) == 1
    return "".join(parts) if one_width else " ".join(p.strip() for p in parts)


PASTE = re.compile(r"copypaste:\s*(.*)$")
COCO = re.compile(
    r"Average (Precision|Recall)\s*\(A[PR]\)\s*@\[\s*IoU=([\d.]+)(?::[\d.]+)?\s*\|\s*area=\s*(\w+)\s*"
    r"\|\s*maxDets=\s*(\d+)\s*\]\s*=\s*(-?[\d.]+|nan)"
)


class Detection:
    def __init__(self, records: Records) -> None:
        self.records = records
        self.names: tuple[Field, ...] = ()
        self.task = ""

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        if "copypaste:" in line:
            return self.paste
        return self.coco if "Average " in line and COCO.search(line) else None

    def paste(self, line: str, row: int) -> None:
        """`Task: bbox`, then a line of names, then a line of numbers."""
        found = PASTE.search(line)
        text = found[1].strip() if found else ""
        if text.startswith("Task:"):
            self.task = text[5:].strip()
            return
        cells = [c.strip() for c in text.split(",")]
        if not all(re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?|nan", c) for c in cells):
            self.names = tuple(
                Field(f"val/{self.task}/{c}" if self.task else f"val/{c}", "metric") for c in cells
            )
        elif len(cells) == len(self.names):
            self.records.put(self.names, [float(c) for c in cells], row, late=True)

    def coco(self, line: str, row: int) -> None:
        """`Average Precision (AP) @[ IoU=0.50:0.95 | area= all | maxDets=100 ] = 0.397`."""
        found = COCO.search(line)
        if found is None:
            return
        kind, overlap, area, most, value = found.groups()
        short = "AP" if kind == "Precision" else "AR"
        part = {"0.50": "50" if f"{overlap}:" not in line else "", "0.75": "75"}.get(overlap, "")
        size = "" if area == "all" else area[0]
        count = most if short == "AR" and area == "all" else ""
        self.records.put(
            (Field(f"val/{short}{part}{size}{count}", "metric"),), [float(value)], row, late=True
        )

    def replace_tables(self) -> None:
        """The same results are in a drawn table before the `copypaste:` lines: keep one."""
        pasted = {f.name.split("/")[-1] for fields in self.records.late for f in fields}
        for fields in [k for k in self.records.kinds if k not in self.records.late and pasted]:
            if all(f.name in pasted for f in fields):
                del self.records.kinds[fields]


NUMBER = r"(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf)"
LISTED = rf"\s*{NUMBER}(?:\s*,\s*{NUMBER}){{2,}}\s*,?\s*"
LINE = re.compile(
    rf"\s*(?:[\"']?(?P<name>[A-Za-z][\w /.-]{{0,40}}?)[\"']?\s*[:=]?\s*)?[\[(](?P<values>{LISTED})[\])],?\s*",
    re.IGNORECASE,
)
NAME_ONLY = re.compile(r"\s*[\"']?(?P<name>[A-Za-z][\w /.-]{0,40}?)[\"']?\s*[:=]\s*")
CURVE = 10  # values, fewer under a name that means nothing are sizes of layers or results of classes


class Histories:
    """Reads such lines, with the name before the list or on the line above. The values of a list may be those of
    classes or layers as well: a history is believed only where nothing else in the log reports a metric, and where a
    name that comes again continues what it had. A name that means nothing counts where no other does."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.values: dict[str, list[float]] = {}
        self.row = 0
        self.heading = ("", 0)

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        found = LINE.fullmatch(line) if "," in line and line.rstrip()[-1:] in "])," else None
        if found is None:
            named = NAME_ONLY.fullmatch(line)
            return self.head if named and evidence(name_of(named)) == 2 else None
        name, values = name_of(found) if found["name"] else "", values_of(found)
        curve = len(values) >= CURVE and any(v % 1 for v in values)
        above = not name and bool(self.heading[0])
        return self.take if above or (name and (curve or evidence(name) == 2)) else None

    def head(self, line: str, row: int) -> None:
        named = NAME_ONLY.fullmatch(line)
        self.heading = (name_of(named), row) if named else ("", 0)

    def take(self, line: str, row: int) -> None:
        found = LINE.fullmatch(line)
        above = self.heading[0] if self.heading[1] == row - 1 else ""
        name = "" if found is None else name_of(found) if found["name"] else above
        if found is None or not name:
            return
        values, before = values_of(found), self.values.get(name, [])
        self.values[name] = values if values[: len(before)] == before else []
        self.row = row

    def flush(self) -> None:
        """Put the histories, value by value, into the records."""
        if any(evidence(field.name) == 2 for fields in self.records.kinds for field in fields):
            return
        known = {name: values for name, values in self.values.items() if evidence(name) == 2} or self.values
        for i, values in enumerate(zip_longest(*known.values())):
            there = [(Field(n, "metric"), v) for n, v in zip(known, values, strict=True) if v is not None]
            fields = (Field("", "counter", 6), *(f for f, _ in there))
            self.records.put(fields, [float(i), *(v for _, v in there)], self.row + i)


def name_of(found: re.Match[str]) -> str:
    return metric_name(Key(found["name"].strip(), True, "", ""), "")


def values_of(found: re.Match[str]) -> list[float]:
    return [float(word) for word in found["values"].split(",") if word.strip()]
