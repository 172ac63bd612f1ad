"""Whether a place in a script was left for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.capture.process.places import is_left_for_good

SCRIPT = """\
for a in x:
    first()
second()
def f():
    third()
    while y:
        fourth()
        fifth()
    sixth()
[f() for _ in x]
f()
"""


@pytest.mark.parametrize(
    ("before", "now", "gone"),
    [
        ([(1, 2)], [(1, 3)], True),  # the loop is over
        ([(1, 2)], [(1, 1)], False),  # still in it
        ([(1, 11), (4, 7)], [(1, 11), (4, 8)], False),
        ([(1, 11), (4, 7)], [(1, 11), (4, 9)], True),
        ([(1, 10), (4, 7)], [(1, 10), (4, 9)], False),  # f may have been called anew
        ([(1, 10), (4, 7)], [(1, 11), (4, 7)], True),
        ([(1, 3)], [(1, 3)], False),
        ([(1, 11), (4, 7)], [(1, 11), (5, 7)], False),  # another function
    ],
)
def test_by_the_loops_around_it(
    before: list[tuple[int, int]], now: list[tuple[int, int]], gone: bool, tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    old, new = (tuple((str(file), first, line) for first, line in chain) for chain in (before, now))
    assert is_left_for_good(old, new) is gone


def test_without_its_source_nothing_is_known() -> None:
    assert not is_left_for_good((("<stdin>", 1, 2),), (("<stdin>", 1, 3),))
