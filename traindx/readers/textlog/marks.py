"""Lines at which a text may begin to report another run: headings, banners, printed options."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable

MARK = re.compile(
    r"^#{1,6}\s+\S|Namespace\(|Initializing solver|^\$ |^Command line|\brun (?:id|name)\s*[:=]"
    r"|^(?:-{3,}|={3,}|\*{3,})\s*\w.*\w\s*(?:-{3,}|={3,}|\*{3,})?$"
    r"|^\s*(?:start(?:ing|ed)?\s+(?:training|run)|train(?:ing)?\s+start(?:s|ed)?|begin(?:ning)?\s+training|new run)\b",
    re.IGNORECASE,
)


class Marks:
    """The line numbers of headings and banners, in order."""

    def __init__(self) -> None:
        self.rows = array("q")

    def claims(self, line: str) -> Callable[[str, int], None] | None:
        return self.take if MARK.search(line[:300]) else None

    def take(self, line: str, row: int) -> None:
        self.rows.append(row)
