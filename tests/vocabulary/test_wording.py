from __future__ import annotations

import pytest

from traindx.vocabulary.wording import certainty, format_step, lower_first


@pytest.mark.parametrize(
    ("probability", "word"),
    [
        (0.99, "almost certainly"),
        (0.95, "almost certainly"),
        (0.9, "probably"),
        (0.65, "probably"),
        (0.5, "possibly"),
        (0.35, "possibly"),
        (0.34, ""),
    ],
)
def test_certainty_is_an_adverb_only_where_one_cause_can_be_named(probability: float, word: str) -> None:
    assert certainty(probability) == word


def test_titles_keep_their_acronyms_inside_a_sentence() -> None:
    assert lower_first("The batch is too small") == "the batch is too small"
    assert lower_first("GPU memory is short") == "GPU memory is short"


def test_places_have_all_their_digits() -> None:
    assert [format_step(v) for v in (9.0, 1400.0, 57344000.0, 2.25)] == ["9", "1,400", "57,344,000", "2.25"]
