"""What the hand list makes of names from public repositories: it must not get worse."""

from __future__ import annotations

import pytest

from benchmarks.roles.__main__ import DIRECTIONS, HALVES, agrees, by_hand, columns


@pytest.mark.parametrize("half", range(2), ids=HALVES)
def test_most_public_names_are_understood(half: int) -> None:
    answers = [(column, by_hand(column.name)) for column in columns(half)]
    assert len(answers) > 1500
    right = sum(agrees(column.role, answer.role) for column, answer in answers)
    directed = sum(DIRECTIONS.get(column.role, "none") == answer.direction for column, answer in answers)
    assert right / len(answers) > 0.87
    assert directed / len(answers) > 0.94
