"""What batches say about training and validation data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traindx.capture.arrays.batch import COMPARED, Data


def host(found: Any) -> Any:
    return None if found is None else np.asarray(found)


@pytest.mark.parametrize(("rows", "compared"), [(COMPARED - 1, False), (COMPARED, True)])
def test_a_few_evaluated_samples_are_not_compared_with_training(rows: int, compared: bool) -> None:
    """A simulation that starts from one sample evaluates a few that resemble each other."""
    data, chance = Data(host, patient=True), np.random.default_rng(0)
    data.look(chance.normal(size=(500, 3)), None, True, False)
    for _ in range(rows):
        data.look(chance.normal(2.0, 0.1, size=(1, 3)), None, False, False)
    facts = data.facts()
    assert ("val_inputs_shift" in facts) == ("val_inputs_spread_ratio" in facts) == compared
