"""Words, numbers and harmless text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from traindx.reports import labels
from traindx.reports.text_page import Page, cut, wrap


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (1210.0, "1,210"), (0.3127001, "0.3127"), (81234.6, "81,235"), (2e-5, "2e-5"), (1.25e9, "1.25e9"),
     (-0.5, "-0.5"), (math.nan, "NaN"), (-math.inf, "-infinity"), ("[x]\n", "[x]\\n"), (True, "True")],
)  # fmt: skip
def test_numbers(value: object, shown: str) -> None:
    assert labels.number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(12000.0, "12,000"), (2.25, "2.25"), (None, "?"), (math.nan, "NaN")]
)
def test_steps(value: float | None, shown: str) -> None:
    assert labels.step(value) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0, "0 %"), (0.004, "<1 %"), (0.713, "71 %"), (0.996, ">99 %"), (1, "100 %")]
)
def test_certainty_is_never_made_up(share: float, shown: str) -> None:
    assert labels.percent(share) == shown


@given(st.text(st.characters(codec=None), max_size=300), st.integers(3, 80))
def test_clean_text_is_printable_and_short(text: str, limit: int) -> None:
    shown = labels.clean(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    if text.isprintable() and len(text) <= limit:
        assert shown == text


class Guarded(str):
    """A text of which only parts may be looked at."""

    def isprintable(self) -> bool:
        raise AssertionError("the whole text was gone through")

    __iter__ = encode = isprintable  # type: ignore[assignment]


def test_of_a_million_characters_only_the_ends_are_looked_at() -> None:
    assert labels.clean(Guarded("\u202e" * 1_000_000), 60).startswith("\\u202e\\u202e")


@given(st.text(max_size=200), st.integers(2, 60))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    shown = labels.visible(text)
    lines = wrap(shown, width)
    assert "".join("".join(lines).split()) == "".join(shown.split())
    assert all(labels.cells(line) <= width for line in lines)
    assert labels.cells(cut(shown, width)) <= width


def test_sentences() -> None:
    assert labels.sentence("too short to judge") == "Too short to judge."
    assert labels.sentence("train/loss is flat") == "train/loss is flat."
    assert labels.sentence("") == ""
    assert labels.sentence("lr falls") == "The learning rate falls."


def test_pages_have_limits() -> None:
    assert (Page(5).width, Page(1000).width) == (40, 140)


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [(0.1, "6 s"), (0.55, "33 s"), (1.0, "1 min"), (12.4, "12 min"), (89.0, "89 min"), (210.0, "3.5 h"),
     (60.0 * 24 * 6, "6 days"), (math.inf, "?")],
)  # fmt: skip
def test_durations(minutes: float, shown: str) -> None:
    assert labels.duration(minutes) == shown
