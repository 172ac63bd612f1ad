"""Tables of bare numbers under a line of headings (fastai, skorch, spaCy, YOLO, markdown)."""

import re
from collections.abc import Callable

from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.lines import field_named
from traindx.readers.textlog.records import Records

CELL = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:%|[GMK]i?B?|s)?|[-+]?nan"
    r"|[-+]?inf|\[[-+\d.e, ]+\]|\d+/\d+|[\d:]+|\([\d:]+\)|-{1,3}|n/a|none|no log|all",
    re.IGNORECASE,
)
HEADING = re.compile(r"[A-Za-z#_][\w#%()@/.\-'*]*(?:@[\d.:]*\d)?(?: [A-Za-z#_(%][\w#%()@/.\-']*){0,3}")
SPLITS = (re.compile(r"\s*[|│┃]\s*"), re.compile(r"\t+|\s{2,}"), re.compile(r"\s*,\s*"), re.compile(r"\s+"))
PREFIX = re.compile(r"^(?:\[[^\]]*\d[:/]\d[^\]]*\]|wandb:|[\d\-/:., ]+\s(?:INFO|DEBUG)\S*)\s")
# A bar of progress, behind which nothing follows; in a notebook it is not drawn (`100% 4/4 [00:01<00:00, 2.9it/s]`).
BAR = re.compile(r":?\s*\d+%(?:\|[^\]]*\]?| [━╸─]+.*| \d+/\d+ \[[^\]]*\])\s*$")
VALUE = re.compile(r"(?<![\w-])(?:nan|inf)(?!\w)", re.IGNORECASE)
DETECTION = {"p": "precision", "r": "recall", "precision": "precision", "recall": "recall", "f1": "f1"}
WIDEST = 400  # characters
FAR = 3  # lines between the headings and the first row


class Tables:
    """Remembers the last lines that could be headings, and reads rows of numbers under them."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.heading, self.heading_row = "", -9
        self.active: dict[int, tuple[Field, ...]] = {}

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        """The handler for a line of headings, or of nothing but numbers below some."""
        if len(line) > WIDEST:
            return None
        text = body(line)
        goes_on = in_bars(text) and len(boxes(text)) == len(boxes(self.heading))
        if goes_on and "" in boxes(text) and "" not in boxes(self.heading):
            return self.second
        if is_heading(text):
            return self.head
        cells = row_cells(text)
        if not cells and goes_on:
            return self.second
        return self.take if len(cells) >= 2 and self.fields_for(len(cells)) is not None else None

    def head(self, line: str, row: int) -> None:
        self.heading, self.heading_row = body(line), row

    def second(self, line: str, row: int) -> None:
        """A second line of headings (`| Mini-batch |` over `| Accuracy |`, as MATLAB prints them)."""
        if row == self.heading_row + 1:
            pairs = zip(boxes(self.heading), boxes(body(line)), strict=True)
            self.heading = " | ".join(" ".join(re.sub(r"\(.*\)", "", f"{a} {b}").split()) for a, b in pairs)
            self.heading_row = row

    def fields_for(self, count: int) -> tuple[Field, ...] | None:
        """The fields of a row of `count` cells: those of the headings just above, else those of
        the last table of that width."""
        for split in SPLITS:
            names = cut(split, self.heading)
            names = ["#"] * (len(names) == count - 1 > 1) + names  # pandas prints its index without a name
            if len(names) == count and self.heading and all(HEADING.fullmatch(n) for n in names):
                return fields_named(names)
        return self.active.get(count)

    def take(self, line: str, row: int) -> None:
        cells = row_cells(body(line))
        near = row - self.heading_row <= FAR
        fields = self.fields_for(len(cells)) if near else self.active.get(len(cells))
        if fields is None:
            return
        self.active[len(cells)] = fields
        if near:
            self.heading_row = row  # a long table keeps its headings
        held = [
            (f, v)
            for f, c in zip(fields, cells, strict=True)
            for v in [value_of(c)]
            if f.name and v is not None
        ]
        if held:
            self.records.put(tuple(f for f, _ in held), [v for _, v in held], row)


def fields_named(names: list[str]) -> tuple[Field, ...]:
    """The fields of a row of headings. Where a detector's mAP is among them, P and R are precision and
    recall, held out as it is, and an opening word of a group (`Box(P`, `mAP50-95)`) says nothing."""
    if not any("map" in name.lower() for name in names):
        return tuple(field_named(name) for name in names)
    plain = [
        re.sub(r"^\w+\((?!.*\))|(?<!\()\)$", "", n) if n.count("(") != n.count(")") else n for n in names
    ]
    return tuple(
        Field("", "metric")  # of how many images a score is counts no steps
        if n.lower() == "images"
        else field_named(f"val/{DETECTION.get(n.lower(), n)}" if n.lower() in DETECTION else n)
        for n in plain
    )


def in_bars(text: str) -> bool:
    """Whether a line is a row of a table with bars at both ends, and words in it."""
    return text[:1] == text[-1:] == "|" and any(c.isalpha() for c in text)


def boxes(text: str) -> list[str]:
    """What is between the bars of a line, empty cells too."""
    return [cell.strip() for cell in text.strip("|").split("|")]


def body(line: str) -> str:
    return BAR.sub("", PREFIX.sub("", line, count=1)).strip().removeprefix(",")


def cut(split: re.Pattern[str], text: str) -> list[str]:
    """Cells of a line; a bar at either end does not make an empty one."""
    return [c.strip() for c in split.split(text.strip("|│┃ \t"))]


def is_heading(text: str) -> bool:
    """Whether a line is a row of short names, two at least, one of them known in training."""
    if not 4 < len(text) < WIDEST or text[-1] in ".:;!?{(" or "=" in text or VALUE.search(text):
        return False
    for split in SPLITS:
        names = cut(split, text)
        if len(names) >= 2 and all(HEADING.fullmatch(n) for n in names):
            return any(
                re.search(r"epoch|loss|step|iter|acc|score|^#$|^e$|map|\blr\b|ap50", n, re.IGNORECASE)
                for n in names
            )
    return False


def row_cells(text: str) -> list[str]:
    """The cells of a line that holds nothing but numbers, else none."""
    if not text or not (text[0].isdigit() or text[0] in "|│┃+-.an"):
        return []
    split = SPLITS[0] if text[0] in "|│┃" or "|" in text else SPLITS[2] if "," in text else SPLITS[3]
    cells = [cell.strip("*~") for cell in cut(split, text)]  # Markdown sets the best row in bold
    if split is SPLITS[0]:
        cells = [cell or "-" for cell in cells]  # not measured in this row
    return cells if all(CELL.fullmatch(c) for c in cells) and any(c[:1].isdigit() for c in cells) else []


def value_of(cell: str) -> float | None:
    """A cell's number; the first of `3/300` and of `[0.41, 0.2]`; None for a clock time, a dash or an absent value."""
    found = re.match(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|nan|inf)", cell.lstrip("["), re.IGNORECASE)
    return float(found[0]) if found and ":" not in cell else None
