"""Places in a script, and whether one was left for good.

The statements of a module, or of one call of a function, run one after the other, except in loops. So a statement
that was left comes back only if a loop holds both it and what runs now, or if the function is called again."""

import ast
import sys
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import FrameType

from traindx.capture.process.patches import Lines

Place = tuple[str, int, int]  # file, first line of the function, line at work
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def places(lines: Lines, depth: int = 1) -> tuple[Place, ...]:
    """The user's calls, outermost first, down to the first one of a library, which may loop."""
    frame: FrameType | None = sys._getframe(depth)
    found: list[tuple[bool, Place]] = []
    while frame is not None:
        code = frame.f_code
        found.append(
            (bool(lines.shown(code.co_filename)), (code.co_filename, code.co_firstlineno, frame.f_lineno))
        )
        frame = frame.f_back
    outermost = found[::-1]
    start = next((i for i, (own, _) in enumerate(outermost) if own), len(outermost))
    return tuple(place for _, place in takewhile(lambda one: one[0], outermost[start:]))


def is_left_for_good(before: tuple[Place, ...], now: tuple[Place, ...]) -> bool:
    """Whether the place `before` cannot come back; False where that is not known."""
    for (file, first, line), (other, start, current) in zip(before, now, strict=False):
        if (file, first) != (other, start):
            return False
        around = loops_around(file, line)
        if around is None:
            return False
        if line != current:
            return not any(begin <= current <= end for begin, end in around)
        if around:  # a later round may have come here, and called anew what is deeper
            return False
    return False


def loops_around(file: str, line: int) -> list[tuple[int, int]] | None:
    """First and last line of each loop that holds a line; None where the source cannot be read."""
    loops = loops_of(file)
    return None if loops is None else [(begin, end) for begin, end in loops if begin <= line <= end]


@lru_cache(maxsize=64)
def loops_of(file: str) -> tuple[tuple[int, int], ...] | None:
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    return tuple((n.lineno, n.end_lineno or n.lineno) for n in ast.walk(tree) if isinstance(n, LOOPS))
