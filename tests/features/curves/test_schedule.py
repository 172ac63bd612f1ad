"""Learning-rate traces: jumps, restarts and zeros, on schedules written out from their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from tests import make
from traindx.features.curves import schedule as s
from traindx.features.shared import Features


def cosine(n: int) -> np.ndarray:
    return 0.5 * (1 + np.cos(np.pi * np.arange(n) / n))


@pytest.mark.parametrize(
    "rates",
    [
        np.full(50, 0.1),
        cosine(50),
        cosine(8),
        1 - np.arange(50) / 50,
        1 - np.arange(6) / 6,
        np.append(1 - np.arange(20) / 20, np.zeros(20)),
        0.9 ** np.arange(200),
        0.1 ** np.digitize(np.arange(90), [30, 60, 80]),
        np.minimum(np.arange(1, 101) / 10, np.sqrt(10 / np.arange(1, 101))),
        1 - np.abs(np.arange(60) % 20 / 10 - 1),
        np.arange(1, 30) / 30,
    ],
    ids=["constant", "cosine", "cosine of 8", "linear", "linear of 6", "ends early", "exponential", "steps", "noam",
         "triangles", "warm-up"],
)  # fmt: skip
def test_usual_schedules_have_no_jumps(rates: np.ndarray) -> None:
    assert s.jumps(rates, up=1.8, down=15.0) == []


@given(st.integers(5, 40), st.integers(5, 40), st.floats(2.0, 50.0), st.booleans())
def test_a_jump_between_levels_is_found_where_it_is(
    before: int, after: int, factor: float, up: bool
) -> None:
    second = factor if up else 1 / factor
    found = s.jumps(np.concatenate([np.ones(before), np.full(after, second)]), up=1.8, down=15.0)
    if up or factor > 15.0 + 1e-9:
        assert [j.at for j in found] == [before]
        assert found[0].factor == pytest.approx(second)
    elif factor < 15.0 - 1e-9:
        assert found == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_warm_up_ends_before_the_first_fall(values: list[float]) -> None:
    rates = np.array(values)
    allowed = 1e-3 * rates.max()
    falls = [i for i in range(len(rates) - 1) if rates[i + 1] - rates[i] < -allowed]
    assert s.warmup_end(rates) == (falls[0] if falls else len(rates) - 1)


def test_restarts_are_distinguished_from_jumps() -> None:
    for rates, expected in (
        (np.tile(cosine(20), 4), True),
        (np.concatenate([cosine(10), cosine(20), cosine(40)]), True),
        (np.concatenate([cosine(20), cosine(20)]), True),
        (np.concatenate([cosine(20), 3 * cosine(20)]), False),
        (np.concatenate([np.ones(20), np.full(20, 5.0)]), False),
        (np.where(np.arange(80) // 10 % 2, 0.01, 1.0), False),
        (np.concatenate([cosine(20), cosine(40), cosine(8), cosine(30)]), False),
    ):
        assert s.restarts(rates, s.jumps(rates, up=1.8, down=15.0)) is expected


@given(st.floats(1e-6, 0.1), st.integers(1, 5))
def test_rounded_rates_are_known_as_such(peak: float, digits: int) -> None:
    rates = np.round(peak * (1 - np.arange(60) / 59), digits)
    assume(digits == 1 or not np.array_equal(rates, np.round(rates, digits - 1)))  # the last digit is in use
    few_digits = rates.max() < 99.5 * 10.0**-digits
    steps = np.abs(np.diff((rates * 10**digits).round()))  # units of 0.1 and 0.01 are plain rates, too
    through_all = len(np.unique(rates)) > 3 and steps.max() <= 1
    expected = rates.max() == 0 or (few_digits and (digits >= 3 or through_all))
    assert s.coarsely_printed(rates) is bool(expected)


def test_exact_rates_are_not_taken_for_rounded() -> None:
    assert not s.coarsely_printed(0.077 * cosine(60))
    assert not s.coarsely_printed(np.where(np.arange(60) < 20, 0.0, 0.1))


def test_the_rate_vanishes_for_good() -> None:
    rates = np.array([1.0, 0.001, 1.0, 0.5, 0.02, 0.009, 0.001])
    assert s.vanishes_at(rates, 0.01) == 5
    assert s.vanishes_at(cosine(100), 0.01) == int(np.ceil(100 * np.arccos(2 * 0.01 - 1) / np.pi))
    assert s.vanishes_at(np.ones(4), 0.01) == 4


def test_traces_take_lr_first() -> None:
    run = make.run({"lr/b": [1.0], "lr/a": [1.0], "lr": [1.0], "train/loss": [1.0]})
    assert [c.name for c in s.traces(Features(run))] == ["lr", "lr/a", "lr/b"]
