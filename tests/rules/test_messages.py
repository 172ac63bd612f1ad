"""How a rule's message is put into words."""

from __future__ import annotations

import pytest

from traindx.rules.findings import said


@pytest.mark.parametrize(
    ("template", "value", "words"),
    [
        ("it leapt {x} times", 1, "it leapt 1 time"),
        ("it leapt {x} times", 21, "it leapt 21 times"),
        ("{x:.1f} times as long", 3.1, "3.1 times as long"),
        ("within {x:.0f} points", 1.0, "within 1 point"),
        ("{x:.0f} times", 1328343813385.0, "1.3e+12 times"),
        ("{x:.0f} times", 26438.0, "26438 times"),
        ("by {x:.0%}", 2834481423678.97, "by 2.8e+14%"),
        ("by {x:.0%}", 71.85, "by 7185%"),
        ("by {x:.0f}", float("inf"), "by inf"),
        ("to {x:.4g}", 9.944e23, "to 9.944e+23"),
        ("{x}", "rank-1 steps", "rank-1 steps"),
    ],
)
def test_numbers_are_readable_and_one_is_no_plural(template: str, value: object, words: str) -> None:
    assert said(template, {"x": value}) == words
