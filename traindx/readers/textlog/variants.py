"""Templates: once a shape of line is known, its numbers are cut out by one compiled pattern.

The pattern is made from a sample line: numbers become groups, other digits that vary (dates,
times) match without being kept, everything else must be the same but for blanks. It holds no
alternatives and no nested repeats, so matching is linear in the line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable

from traindx.readers.textlog.grammar import Parsed

DIGITS = re.compile(r"\d+", re.ASCII)
BLANKS = re.compile(r"\s+")


def shape_of_number(text: str, *, groups: bool = False) -> str:
    """A pattern for numbers written as `text` is: same signs, point and letters, other digits."""
    parts: list[str] = []
    end = 0
    for run in DIGITS.finditer(text):
        parts.append(literal(text[end : run.start()]))
        after_point = text[run.start() - 1 : run.start()] == "." and not groups
        digits = rf"\d{{{len(run[0])}}}" if groups else (r"\d*" if after_point and run.start() > 1 else r"\d+")
        parts.append(f"({digits})" if groups else digits)
        end = run.end()
    rest = text[end:]
    parts.append(literal(rest) + (r"\d*" if rest == "." else ""))
    return "".join(parts)


def literal(text: str) -> str:
    """A pattern for text as it stands, with blanks of any length."""
    out: list[str] = []
    end = 0
    for run in BLANKS.finditer(text):
        out.append(re.escape(text[end : run.start()]))
        between_words = text[run.start() - 1 : run.start()].isalnum() and text[run.end() : run.end() + 1].isalnum()
        out.append(r"\s+" if between_words else r"\s*")
        end = run.end()
    out.append(re.escape(text[end:]))
    return "".join(out)


def pattern_of(line: str, parsed: Parsed) -> str:
    """The pattern of all lines that are like `line`; the groups of the time stamp come first."""
    pieces = [(span, "field") for span in parsed.spans]
    pieces += [(span, "stamp" if span == parsed.stamp else "other") for span in parsed.others]
    out: list[str] = []
    end = 0
    for (a, b), kind in sorted(pieces):
        text = line[end:a]
        bare = text.rstrip()
        blank = r"\s+" if bare != text and bare[-1:].isalnum() else r"\s*" if not bare[-1:].isalnum() else ""
        out.append(literal(bare) + blank)
        body = shape_of_number(line[a:b], groups=kind == "stamp")
        out.append(f"({body})" if kind == "field" else body)
        end = b
    out.append(literal(line[end:].rstrip()) + r"\s*")
    return "".join(out)


class Variant:
    """Lines of one exact shape. `rows[n]`, `values[n * k]` row by row; `stamps[n * s]` holds the
    digits of the time stamp, `stamp` a sample of it. `other` is asked for lines that have the
    same signature and yet do not match."""

    def __init__(self, line: str, parsed: Parsed, other: Callable[[str, int], None]) -> None:
        self.sample, self.parsed, self.other = line, parsed, other
        self.fields = parsed.fields
        self.stamp = line[slice(*parsed.stamp)] if parsed.stamp else ""
        self.split = len(DIGITS.findall(self.stamp))
        self.rows = array("q")
        self.values = array("d")
        self.stamps = array("d")
        self.match: Callable[[str], re.Match[str] | None] | None = None

    def put(self, line: str, parsed: Parsed, row: int) -> None:
        """Add a line that was parsed by the grammar."""
        self.rows.append(row)
        self.values.extend([float(line[a:b]) for a, b in parsed.spans])
        if self.split:
            assert parsed.stamp is not None
            self.stamps.extend(map(float, DIGITS.findall(line[slice(*parsed.stamp)])))

    def compiled(self) -> Callable[[str], re.Match[str] | None]:
        if self.match is None:
            self.match = re.compile(pattern_of(self.sample, self.parsed), re.ASCII).fullmatch
        return self.match

    def fits(self, line: str) -> bool:
        return self.compiled()(line) is not None

    def accepts(self, line: str, parsed: Parsed) -> bool:
        """Whether a parsed line has the time stamp that this variant keeps."""
        stamp = line[slice(*parsed.stamp)] if parsed.stamp else ""
        return DIGITS.sub("0", stamp) == DIGITS.sub("0", self.stamp)

    def take(self, line: str, row: int) -> None:
        """Add a line by the template."""
        found = (self.match or self.compiled())(line)
        if found is None:
            self.other(line, row)
            return
        self.rows.append(row)
        groups = found.groups()
        if self.split:
            self.stamps.extend(map(float, groups[: self.split]))
            groups = groups[self.split :]
        self.values.extend(map(float, groups))
