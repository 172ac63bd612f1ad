"""How a table is laid out: delimiter, decimal sign and header, by its first lines."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

import msgspec

from traindx.readers.files.text_blocks import head_lines, is_text
from traindx.readers.tables.columns import MISSING, NULL, SPLITS, text_number

DELIMITERS = ("\t", ";", ",", "|", " ")  # " " means runs of blanks
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
MARKDOWN_RULE = frozenset("|:- ")
COMMENT = ("#", "%", "//")
MAX_CELLS = 20_000
SIDE = r"(?i)\b(train(?:ing)?|val(?:id(?:ation)?)?|test)\s+(?=[^\W\d])"  # `train loss`
LEAST = 5  # rows of one width in a row that are no accident


class Layout(msgspec.Struct, frozen=True):
    """`names[n]` one per column; `skip` lines before the first row of numbers (comments, header);
    `text` are columns that hold words; `samples` the cells of the first rows, by column."""

    delimiter: str
    decimal_comma: bool
    names: tuple[str, ...]
    header: bool
    skip: int
    text: frozenset[int]
    samples: tuple[tuple[str, ...], ...]
    comments: tuple[str, ...]

    @property
    def split(self) -> int | None:
        """The column that says of each row whether it is of the training or the validation set."""
        words = {i: {cell.strip().lower() for cell in self.samples[i]} for i in sorted(self.text)}
        return next((i for i, cells in words.items() if cells <= SPLITS), None)

    @property
    def lowered(self) -> frozenset[str]:
        return frozenset(name.lower() for name in self.names)


def split_line(line: str, delimiter: str) -> list[str]:
    """The cells of one line; quotes are undone."""
    if delimiter == " ":
        return line.split()
    if '"' in line:
        with suppress(csv.Error):
            return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return line.split(delimiter)


def is_number(cell: str, decimal_comma: bool) -> bool:
    """Whether a cell holds a number (NaN included)."""
    if decimal_comma and DECIMAL_COMMA.fullmatch(cell):
        return True
    return text_number(cell) is not None


def is_absent(cell: str) -> bool:
    word = cell.strip().lower()
    return word in MISSING or word == NULL


VALUE_WITHIN = re.compile(r"\w:\s\d")  # `step 0 | loss: 2` before the comma of 2,300


@lru_cache(maxsize=8)
def peek_layout(head: bytes) -> Layout | None:
    """The layout of a table from the first bytes of its file; None where there is no table."""
    if not is_text(head) or head.lstrip()[:1] in (b"{", b"["):
        return None
    lines = [line.decode("utf-8", "replace") for line in head_lines(head)]
    comments = []
    while lines and lines[0].lstrip().startswith(COMMENT):
        comments.append(lines.pop(0))
    ruled = (
        len(lines) > 1 and "-" in lines[1] and "|" in lines[1] and MARKDOWN_RULE.issuperset(lines[1].strip())
    )
    if not lines or lines[0].lstrip().startswith("|") or ruled:
        return None  # a boxed table: another reader's
    best: tuple[float, Layout] | None = None
    for delimiter in DELIMITERS:
        found = _try(lines, delimiter, comments)
        if found is not None and (best is None or found[0] > best[0] + 1e-9):
            best = found
    return best[1] if best else None


def _try(lines: list[str], delimiter: str, comments: list[str]) -> tuple[float, Layout] | None:
    """A layout with this delimiter and how well it fits (0..1), or None."""
    rows = [split_line(line, delimiter) for line in lines]
    first, body = rows[0], rows[1:]
    comma = delimiter != "," and any(DECIMAL_COMMA.fullmatch(cell) for row in rows[:20] for cell in row)
    has_header = not any(is_number(cell, comma) for cell in first) and any(cell.strip() for cell in first)
    if not has_header:
        body = rows
    if len(first) > MAX_CELLS or (delimiter != "," and len(first) < 2):
        return None
    if not body:
        return _header_only(lines, delimiter, comments)
    again = next((i for i, row in enumerate(body) if has_header and i and _repeats(row, first)), len(body))
    body = as_headed(first, body[:again]) if has_header else body[:again]
    widths = Counter(len(row) for row in body)
    width, same = widths.most_common(1)[0]
    if has_header and 2 * widths[len(first)] >= len(body):
        width, same = len(first), widths[len(first)]
    width, body = _trailing(first if has_header else None, width, body)
    whole = [row for row in body if len(row) == width]
    share = same / len(body)
    samples = tuple(tuple(column) for column in zip(*whole, strict=True))
    text = frozenset(i for i, column in enumerate(samples) if _is_words(column, comma))
    if has_header and delimiter == " " and len(first) > width:
        first = re.sub(SIDE, r"\1_", " ".join(first)).split()
    sentence = len(first) > width if delimiter == " " else len(first) == 1 and " " in first[0].strip()
    values = any(VALUE_WITHIN.search(cell) for cell in first)
    if has_header and (sentence or values or (len(first) == 1 and width > 2)):
        return None  # a heading over a table, or a line of a log, not its header
    if share < 0.5 or len(text) == width or (text and (not has_header or delimiter == " ")):
        return None
    names = header_names(tuple(first), width) if has_header else _from_comment(comments, delimiter, width)
    filled = sum(1 for column in samples for cell in column if cell.strip())
    if names is None or not filled:
        return None
    numbers = sum(1 for column in samples for cell in column if is_number(cell, comma))
    layout = Layout(
        delimiter, comma, names, has_header, len(comments) + has_header, text, samples, tuple(comments)
    )
    return share * numbers / filled + (0.01 if width > 1 else 0.0), layout


def _repeats(row: list[str], header: list[str]) -> bool:
    """Whether a row is a header too: it shares names and has no number."""
    return bool(set(row) & set(header) - {""}) and not any(is_number(cell, False) for cell in row)


def as_headed(header: list[str], body: list[list[str]]) -> list[list[str]]:
    """The rows, or those before the first that is not as wide as the header: several that are show that it
    is theirs, though more of another width follow. Or all that are, where each is followed by another line or two."""
    fitting = [row for row in body if len(row) == len(header)]
    if 2 * len(fitting) >= len(body):
        return body
    turn = next((i for i, row in enumerate(body) if len(row) != len(header)), len(body))
    if turn >= LEAST:
        return body[:turn]
    return fitting if len(header) >= LEAST and 3 * len(fitting) >= len(body) else body


def _trailing(header: list[str] | None, width: int, body: list[list[str]]) -> tuple[int, list[list[str]]]:
    """Rows that all end in a delimiter have an empty last cell: taken off."""
    if header is not None and width > len(header):
        extra = len(header)
        if all(not "".join(row[extra:]).strip() for row in body):
            return extra, [row[:extra] for row in body]
    return width, body


def _is_words(column: Sequence[str], comma: bool) -> bool:
    filled = [cell for cell in column if not is_absent(cell)]
    return bool(filled) and sum(is_number(cell, comma) for cell in filled) < 0.5 * len(filled)


def _header_only(lines: list[str], delimiter: str, comments: list[str]) -> tuple[float, Layout] | None:
    """A header that no row follows yet: at least two plain names, one of them a known counter."""
    cells = [cell.strip() for cell in split_line(lines[0], delimiter)]
    known = {"epoch", "step", "iteration", "iter", "loss", "r"}
    if len(lines) > 1 or len(cells) < 2 or not known & {cell.lower() for cell in cells}:
        return None
    names = header_names(tuple(cells), len(cells))
    samples: tuple[tuple[str, ...], ...] = ((),) * len(cells)
    return 0.1, Layout(
        delimiter, False, names, True, len(comments) + 1, frozenset(), samples, tuple(comments)
    )


DEEPXDE = ["step", "loss_train", "loss_test", "metrics_test"]


def parts_of_deepxde(comments: Sequence[str], width: int) -> tuple[str, ...]:
    """The columns of DeepXDE's `loss.dat`, whose last comment names four: each loss has a value for every part, and one
    metric at most is usual. Nothing for any other file."""
    words = comments[-1].replace("#", " ").replace(",", " ").split() if comments else []
    if words != DEEPXDE or width <= len(DEEPXDE):
        return ()
    parts, measured = divmod(width - 1, 2)
    sides = [f"{side}_part{i + 1}_loss" for side in ("train", "val") for i in range(parts)]
    return ("step", *sides, *(["val_metric"] * measured))


@lru_cache(maxsize=8)
def header_names(cells: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Unique names for `width` columns. A header that is one short lacks the name of an index
    column in front (R, old pandas); otherwise what is missing is called c<i>."""
    names = [cell.strip().lstrip("#").strip() for cell in cells]
    if len(names) == width - 1:
        names.insert(0, "index")
    names = [name or ("index" if i == 0 else f"c{i}") for i, name in enumerate(names[:width])]
    return unique([*names, *(f"c{i}" for i in range(len(names), width))])


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Names made different where they repeat."""
    counts: Counter[str] = Counter()
    made = []
    for name in names:
        counts[name] += 1
        made.append(name if counts[name] == 1 else f"{name}.{counts[name] - 1}")
    return tuple(made)


def _from_comment(comments: list[str], delimiter: str, width: int) -> tuple[str, ...]:
    """Names out of the last comment line where it fits (numpy.savetxt), else c0, c1 ..."""
    if names := parts_of_deepxde(comments, width):
        return names
    if comments:
        words = split_line(comments[-1].lstrip().lstrip("#%/").strip(), delimiter)
        if len(words) == width and not any(is_number(word, False) for word in words):
            return header_names(tuple(words), width)
    return tuple(f"c{i}" for i in range(width))
