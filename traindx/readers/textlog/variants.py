"""Templates: once a shape of line is known, its numbers are cut out by one compiled pattern.

The pattern is made from a sample line: numbers become groups, other digits that vary (dates, times) match
without being kept, everything else must be the same but for blanks. It holds no alternatives and no nested
repeats, so matching is linear in the line."""

import re
from array import array
from collections.abc import Callable

import numpy as np

from traindx.readers.textlog.grammar import Parsed
from traindx.readers.textlog.tokens import DECIMAL_COMMA
from traindx.vocabulary import Floats

HELD = 4000  # texts of numbers kept before they are converted

DIGITS = re.compile(r"\d+", re.ASCII)
BLANKS = re.compile(r" +")
DECIMAL = re.compile(rf"[-+]?{DECIMAL_COMMA}")
PADDED = ("", "[", "(", ":", "|", ",", "\t")  # after these a number is often padded with blanks


def shape_of_number(text: str) -> str:
    """A pattern for numbers written as `text` is: same signs, point and letters, other digits."""
    parts: list[str] = []
    end = 0
    for run in DIGITS.finditer(text):
        parts.append(BLANKS.sub(" *", literal(text[end : run.start()])))
        after_point = text[run.start() - 1 : run.start()] == "."
        parts.append(r"\d*" if after_point and run.start() > 1 else r"\d+")
        end = run.end()
    rest = text[end:]
    parts.append(BLANKS.sub(" *", literal(rest)) + (r"\d*" if rest == "." else ""))
    return "".join(parts)


def shape_of_stamp(text: str) -> str:
    """A pattern for time stamps of exactly the layout of `text`."""
    parts = re.split(r"(\d+)", text, flags=re.ASCII)
    return "".join(rf"\d{{{len(p)}}}" if p.isdigit() else re.escape(p) for p in parts)


def literal(text: str) -> str:
    """A pattern for literal text."""
    return re.escape(text).replace("\\ ", " ")


def pattern_of(line: str, parsed: Parsed) -> str:
    """The pattern of all lines that are like `line`; one group a field; the time stamp, if there
    is one, comes first. Blanks before a number may be more or fewer, as numbers are padded."""
    pieces = [(span, "field") for span in parsed.spans]
    pieces += [(span, "stamp" if span == parsed.stamp else "other") for span in parsed.others]
    out: list[str] = []
    end = 0
    for (a, b), kind in sorted(pieces):
        text = line[end:a]
        bare = text.rstrip(" ")
        between = bare[-1:].isalnum() or (not bare and end)  # words and numbers must stay apart
        blank = (" +" if between else " *") if bare != text else (" *" if bare[-1:] in PADDED else "")
        out.append(literal(bare) + blank)
        body = shape_of_stamp(line[a:b]) if kind == "stamp" else shape_of_number(line[a:b])
        out.append(body if kind == "other" else f"({body})")
        end = b
    out.append(literal(line[end:].rstrip()) + r"\s*")
    return "".join(out)


class Variant:
    """Lines of one exact shape. `rows[n]` are their numbers; `finish()` gives the values and the
    seconds of the time stamps. `other` is asked for lines that have the same signature and yet do
    not match."""

    def __init__(self, line: str, parsed: Parsed, other: Callable[[str, int], None]) -> None:
        self.sample, self.parsed, self.other = line, parsed, other
        self.fields = parsed.fields
        self.stamp = line[slice(*parsed.stamp)] if parsed.stamp else ""
        self.grouped = any("," in line[a:b] for a, b in parsed.spans)  # thousands, as in 12,800
        self.decimal = False  # as in 0,128
        self.rows = array("q")
        self.texts: list[str] = []
        self.values = array("d")
        self.times = array("d")
        self.match: Callable[[str], re.Match[str] | None] | None = None

    def put(self, line: str, parsed: Parsed, row: int) -> None:
        """Add a line that was parsed by the grammar."""
        self.rows.append(row)
        if parsed.stamp:
            self.texts.append(line[slice(*parsed.stamp)])
        self.texts.extend([line[a:b] for a, b in parsed.spans])

    def compiled(self) -> Callable[[str], re.Match[str] | None]:
        if self.match is None:
            self.match = re.compile(pattern_of(self.sample, self.parsed), re.ASCII).fullmatch
        return self.match

    def fits(self, line: str) -> bool:
        return self.compiled()(line) is not None

    def accepts(self, line: str, parsed: Parsed) -> bool:
        """Whether a parsed line has the time stamp that this variant keeps."""
        stamp = line[slice(*parsed.stamp)] if parsed.stamp else ""
        return DIGITS.sub(lambda run: "0" * len(run[0]), stamp) == DIGITS.sub(
            lambda run: "0" * len(run[0]), self.stamp
        )

    def take(self, line: str, row: int) -> None:
        """Add a line by the template."""
        found = (self.match or self.compiled())(line)
        if found is None:
            self.other(line, row)
            return
        self.rows.append(row)
        self.texts.extend(found.groups())
        if len(self.texts) > HELD:
            self.settle()

    def settle(self) -> None:
        """Turn the texts held so far into numbers."""
        if self.stamp:
            width = 1 + len(self.fields)
            found = seconds(self.stamp, self.texts[::width])
            self.times.frombytes(b"" if found is None else found.tobytes())
            del self.texts[::width]
        if self.grouped:
            decimal = self.decimal = self.decimal or any(map(DECIMAL.fullmatch, self.texts))
            texts = [t.replace(",", "." if decimal else "") for t in self.texts]
        else:
            texts = self.texts
        self.values.frombytes(np.fromiter(map(float, texts), np.float64, len(texts)).tobytes())
        self.texts.clear()

    def finish(self) -> tuple[Floats, Floats | None]:
        """Values `[n, k]`, and seconds `[n]` where the lines have time stamps that are known."""
        if self.texts:
            self.settle()
        values = np.frombuffer(self.values, dtype=np.float64).reshape(len(self.rows), len(self.fields))
        known = len(self.times) == len(self.rows)
        return values, np.frombuffer(self.times, dtype=np.float64) if known else None


LONGEST_RUN = 9  # digits of one part: nanoseconds, or a process number
RUN = re.compile(r"\d+", re.ASCII)


def seconds(sample: str, stamps: list[str]) -> Floats | None:
    """Seconds `[n]` of stamps that are laid out exactly like `sample`, or None when that layout is
    not known. Where the year is missing 1970 is taken: differences hold."""
    runs = [(r.start(), r.end()) for r in RUN.finditer(sample)]
    if len(runs) < 5 or not sample.isascii() or any(b - a > LONGEST_RUN for a, b in runs):
        return None
    codes = np.frombuffer("".join(stamps).encode("ascii"), dtype=np.uint8).reshape(-1, len(sample))
    columns = [number(codes[:, a:b]) for a, b in runs]
    first = runs[0][1] - runs[0][0]
    none = np.full(len(codes), 1970.0)
    if first == 4 and re.match(r"\d{4}[-/.]", sample):
        year, month, day, clock = columns[0], columns[1], columns[2], 3
    elif first == 4:  # glog: month and day in one, a process number at the end
        year, month, day, clock = none, columns[0] // 100, columns[0] % 100, 1
    else:
        year, month, day, clock = (
            none,
            columns[0],
            columns[1],
            3 if re.match(r"\d+[/-]\d+[/-]\d+", sample) else 2,
        )
    total = day_number(year, month, day) * 86400.0
    for column, scale in zip(columns[clock : clock + 3], (3600.0, 60.0, 1.0), strict=False):
        total = total + column * scale
    if len(columns) > clock + 3 and sample[runs[clock + 3][0] - 1] in ".,":
        a, b = runs[clock + 3]
        total = total + columns[clock + 3] / 10.0 ** (b - a)
    return total


def number(digits: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> Floats:
    """Whole numbers `[n]` from the character codes `[n, d]` of their digits."""
    with np.errstate(over="ignore"):  # a damaged stamp may have hundreds of digits
        scale = 10.0 ** np.arange(digits.shape[1] - 1, -1, -1)
    return np.asarray((digits.astype(np.float64) - 48.0) @ scale, dtype=np.float64)


def day_number(year: Floats, month: Floats, day: Floats) -> Floats:
    """Days since 1970-01-01 of calendar dates (proleptic Gregorian; the year begins in March, so
    that the leap day is its last)."""
    y = year - (month <= 2)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return np.asarray(
        era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468, dtype=np.float64
    )
