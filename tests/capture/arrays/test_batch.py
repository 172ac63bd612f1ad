"""What batches say about training and validation data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traindx.capture.arrays.batch import COMPARED, Data, count_identifying_features, padding_share


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


def test_targets_are_not_paired_with_the_inputs_of_another_batch() -> None:
    """On a busy machine some batches are passed over, and the inputs and targets of one come one by one."""
    data, chance = Data(host), np.random.default_rng(0)
    for step in range(200):
        inputs = chance.normal(size=(4, 3))
        data._spent = (0.0, 9.0, 0.0)[step % 3]  # no time for the targets of one batch, then for inputs
        data.look(inputs, None, True, False)
        data._spent = (9.0, 0.0, 0.0)[step % 3]
        data.look(None, (inputs[:, 0] > 0).astype(np.int64), True, False)
    assert float(data.references()["reference_linear_accuracy"]) > 0.9


def test_features_that_identify_a_sample() -> None:
    chance = np.random.default_rng(0)
    measured = chance.normal(size=(32, 5)).astype("f4")
    assert count_identifying_features(measured) == 5
    assert count_identifying_features(np.concatenate([measured, measured[:16]])) == 5  # half of them copied
    assert count_identifying_features(chance.integers(0, 9, (32, 5)).astype("f4")) == 0
    assert count_identifying_features(measured[:4]) == 0  # too few to tell


def test_padding_only_fills_the_ends_of_sequences() -> None:
    words = np.random.default_rng(0).integers(3, 20, (50, 10))
    lengths = np.arange(50) % 10 + 1
    filled = np.where(np.arange(10) < lengths[:, None], words, 0)
    assert padding_share(filled) == pytest.approx(0.45)  # the mean of 0 to 9 tokens of ten
    assert padding_share(np.where(filled == 0, -100, filled)) == 0  # the loss ignores it
    assert padding_share(words) == 0
    assert padding_share(np.where(np.arange(10) < 9, words, 2)) == 0  # a sign for the end
    pixels = np.where(np.abs(np.arange(10) - 5) < 3, words % 2, 0)  # dark at the borders, and elsewhere too
    assert padding_share(pixels) == 0
    assert padding_share(np.zeros((50, 10), int)) == 0


def test_a_spread_that_few_samples_show_makes_no_outliers() -> None:
    """One sample at a time: of two that happen to be close, a third is many of their deviations away."""
    chance = np.random.default_rng(0)
    for far, share in ((0, 0.0), (1000, 1 / 200)):
        data = Data(host, patient=True)
        for step in range(200):
            data.look(chance.normal(size=(1, 50)) + far * (step == 150), None, True, False)
        assert data.facts()["inputs_outlier_share"] == pytest.approx(share)
