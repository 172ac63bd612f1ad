"""A terminal page: wrapping by columns, styles, glyphs with plain stand-ins."""

from collections.abc import Sequence

import msgspec

from traindx.reports.labels import cells, clean

CODES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36",
    "healthy": "1;32", "watch": "1;33", "sick": "1;31", "failed": "1;7;31",
    "critical": "1;31", "high": "31", "medium": "33", "low": "36", "info": "2",
}  # fmt: skip

LEAST_WIDTH, MOST_WIDTH = 40, 140
PLAIN = str.maketrans({"…": "~", "–": "-", "—": "-", "·": "-", "→": ">", "×": "x", "−": "-", "“": '"', "”": '"',
                       "’": "'", "≥": ">", "≤": "<", "±": "~", "▲": "^", "─": "-", "│": "|", "└": "+",
                       "┤": "|", "μ": "u", "√": "r", "▸": ">", "↳": ">"})  # fmt: skip


class Span(msgspec.Struct, frozen=True):
    """A piece of a line with its style ("" for none)."""

    text: str
    style: str = ""


class Page:
    """Collects the lines of a report. `width` in columns; `unicode=False` prints ASCII only."""

    def __init__(self, width: int = 100, *, color: bool = False, unicode: bool = True) -> None:
        self.width = max(LEAST_WIDTH, min(width, MOST_WIDTH))
        self.color = color
        self.unicode = unicode
        self.mark = "…" if unicode else "~"
        self.lines: list[str] = []

    def paint(self, text: str, style: str) -> str:
        """`text` with a style, when there is colour."""
        return f"\x1b[{CODES[style]}m{text}\x1b[0m" if self.color and style and text else text

    def plain(self, text: str) -> str:
        """`text` in the characters that this page may use; as many columns as before, or more."""
        if self.unicode or text.isascii():
            return text
        return text.translate(PLAIN).encode("ascii", "backslashreplace").decode("ascii")

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def row(self, *spans: Span | str) -> None:
        """One line as it is, cut at the page's width."""
        left = self.width
        parts: list[str] = []
        for span in spans:
            piece = span if isinstance(span, Span) else Span(span)
            text = cut(self.plain(piece.text), left, self.mark)
            left -= cells(text)
            parts.append(self.paint(text, piece.style))
        self.lines.append("".join(parts).rstrip())

    def heading(self, text: str) -> None:
        self.blank()
        self.row(Span(text, "bold"))

    def flow(
        self, text: str, *, indent: int = 2, first: str = "", style: str = "", lead_style: str = ""
    ) -> None:
        """A paragraph, wrapped; `first` precedes it and later lines are indented as far."""
        lead = " " * indent + self.plain(first)
        for i, line in enumerate(wrap(self.plain(text), max(self.width - cells(lead), 8))):
            before = self.paint(lead, lead_style) if i == 0 else " " * cells(lead)
            self.lines.append((before + self.paint(line, style)).rstrip())

    def pair(self, left: str, right: str, *, indent: int = 0, style: str = "") -> None:
        """`left`, and `right` flush with the page's right edge; on two lines where one is too short."""
        left, right = " " * indent + self.plain(left), self.plain(right)
        space = self.width - cells(left) - cells(right)
        if space >= 2:
            self.lines.append(self.paint(left, style) + " " * space + right)
        else:
            self.flow(left.strip(), indent=indent, style=style)
            self.flow(right, indent=indent + 2)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Span]], *, flexible: int) -> None:
        """Columns as wide as their contents; the column `flexible` gives way when the page is narrow."""
        plain = [[self.plain(c.text) for c in row] for row in rows]
        titles = [self.plain(h) for h in head]
        widths = [max([cells(titles[i]), *(cells(row[i]) for row in plain)]) for i in range(len(titles))]
        widths = fit_widths(widths, self.width - 2 * (len(widths) - 1), flexible)
        self.row(
            Span("  ".join(pad(cut(t, w, self.mark), w) for t, w in zip(titles, widths, strict=True)), "dim")
        )
        for texts, row in zip(plain, rows, strict=True):
            parts = [
                self.paint(pad(cut(t, w, self.mark), w), c.style)
                for t, w, c in zip(texts, widths, row, strict=True)
            ]
            self.lines.append("  ".join(parts).rstrip())

    def text(self) -> str:
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines) + "\n"


def fit_widths(widths: list[int], room: int, flexible: int) -> list[int]:
    """Column widths that together take at most `room`: first the flexible one gives way (down to
    12), then the widest ones."""
    widths = list(widths)
    spare = sum(widths) - room
    if spare > 0:
        taken = min(spare, max(widths[flexible] - 12, 0))
        widths[flexible] -= taken
        spare -= taken
    while spare > 0 and max(widths) > 4:
        widths[widths.index(max(widths))] -= 1
        spare -= 1
    return widths


def pad(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def cut(text: str, width: int, mark: str = "…") -> str:
    """The beginning of `text` in at most `width` columns, with a mark where it was cut."""
    if cells(text) <= width:
        return text
    out, used = "", 0
    for c in text:
        used += cells(c)
        if used > width - 1:
            break
        out += c
    return out + mark if width > 0 else ""


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns; words longer than a line are broken."""
    lines: list[str] = []
    line, used = "", 0
    for word in text.split():
        size = cells(word)
        if line and used + 1 + size <= width:
            line, used = f"{line} {word}", used + 1 + size
            continue
        if line:
            lines.append(line)
        while size > width:
            head = _head(word, width)
            lines.append(head)
            word = word[len(head) :]
            size = cells(word)
        line, used = word, size
    return [*lines, line] if line or not lines else lines


def _head(word: str, width: int) -> str:
    """As many characters of `word` as fit in `width` columns, at least one."""
    used = 0
    for i, c in enumerate(word):
        used += cells(c)
        if used > width and i:
            return word[:i]
    return word


def span(text: object, style: str = "", limit: int = 200) -> Span:
    """Foreign text as a harmless span."""
    return Span(clean(text, limit), style)
