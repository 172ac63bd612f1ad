from __future__ import annotations

import pytest

from traindx.causes.wording import certainty, lowered


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
    assert lowered("The batch is too small") == "the batch is too small"
    assert lowered("GPU memory is short") == "GPU memory is short"
