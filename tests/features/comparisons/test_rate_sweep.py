"""Range tests of trainings whose best rates are known from theory."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.features.comparisons.rate_sweep import (
    LEAST,
    Suggestion,
    Sweep,
    final,
    good_rates,
    has_diverged,
    line_error,
    local_lines,
    pad_sweep,
    read,
    sweep_of,
)
from traindx.vocabulary.run import Floats, series

RATES = np.logspace(-7, 1, 200)


def descent(
    curvature: float, rates: Floats, noise: float = 0.0, seed: int = 0, floor: float = 1.0
) -> Floats:
    """Losses before each step of gradient descent on a parabola: it converges below 2 / curvature."""
    chance = np.random.default_rng(seed)
    x, losses = np.sqrt(2 / curvature), np.empty(len(rates))
    for i, rate in enumerate(rates):
        losses[i] = floor + 0.5 * curvature * x * x + noise * chance.standard_normal()
        x = np.clip(x - rate * curvature * x, -1e9, 1e9)
    return losses


def swept(curvature: float, noise: float = 0.0, seed: int = 0) -> Sweep:
    losses = descent(curvature, RATES, noise, seed)
    return Sweep(RATES[:-1], losses[1:], has_diverged(losses))


def suggestion(*sweeps: Sweep) -> Suggestion:
    found = read(sweeps)
    assert isinstance(found, Suggestion), found
    return found


@pytest.mark.parametrize("curvature", [0.5, 20.0, 3000.0])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_suggestion_trains_and_the_largest_safe_rate_does_not_diverge(
    curvature: float, noise: float
) -> None:
    found = suggestion(*(swept(curvature, noise, seed) for seed in (0, 1)))
    assert found.reading.safe < 2 / curvature
    for rate in (found.reading.suggested, found.low, found.high, found.reading.safe):
        after = descent(curvature, np.full(300, rate))
        assert after[-1] < 1.01, rate  # converged to the floor
    assert found.low <= found.reading.suggested <= found.high
    assert found.reading.suggested > 0.01 / curvature
    assert descent(curvature, np.full(300, 4 * found.reading.lowest))[-1] > 1e3


def test_the_suggestion_moves_with_the_curvature() -> None:
    one, other = suggestion(swept(2.0)).reading, suggestion(swept(200.0)).reading
    assert one.suggested / other.suggested == pytest.approx(100, rel=0.1)
    assert one.lowest / other.lowest == pytest.approx(100, rel=0.1)


@pytest.mark.parametrize(("factor", "offset"), [(1000.0, 0.0), (1e-6, 0.0), (1.0, -5.0)])
def test_scale_and_offset_of_the_loss_do_not_matter(factor: float, offset: float) -> None:
    one = swept(20.0, 0.02)
    other = suggestion(one._replace(losses=factor * one.losses + offset)).reading
    assert (other.suggested, other.lowest) == (
        suggestion(one).reading.suggested,
        suggestion(one).reading.lowest,
    )


def test_noise_alone_suggests_nothing() -> None:
    chance = np.random.default_rng(5)
    for scale in (0.01, 1.0):
        for _ in range(200):
            losses = 3 + scale * chance.standard_normal((2, len(RATES)))
            found = read([Sweep(RATES, one, False) for one in losses])
            assert isinstance(found, str)
            assert "at no learning rate" in found


def test_a_loss_that_only_rises() -> None:
    chance = np.random.default_rng(6)
    losses = 1 + 0.01 * chance.standard_normal(len(RATES)) + np.linspace(0, 1, len(RATES)) ** 8
    assert "and rises at high ones" in str(read([Sweep(RATES, losses, False)]))


def test_too_few_steps() -> None:
    few = Sweep(RATES[: LEAST - 1], np.linspace(2, 1, LEAST - 1), False)
    assert str(read([few])).startswith("the sweep ends after 29 steps")


def test_still_falling_at_the_highest_rate() -> None:
    found = suggestion(swept(0.02, 0.001)).reading
    assert found.open_end
    assert found.lowest == RATES[-2]
    assert not suggestion(swept(20.0)).reading.open_end


def test_the_height_of_an_explosion_has_no_weight() -> None:
    whole = swept(20.0, 0.02)
    best = int(np.argmin(whole.losses))
    end = best + int(np.argmax(whole.losses[best:] > 10))
    ended = Sweep(whole.rates[:end], whole.losses[:end], True)
    higher = whole._replace(
        losses=np.where(np.arange(len(whole.losses)) >= end, 1e30, whole.losses), diverged=True
    )
    one, other = suggestion(ended, whole).reading, suggestion(higher, whole).reading
    assert one.suggested == other.suggested
    assert one.lowest == other.lowest
    assert len(pad_sweep(ended, 199)) == 199
    assert np.max(pad_sweep(higher, 199)) == pytest.approx(
        2 * np.median(whole.losses[:19]) - whole.losses.min()
    )


def test_local_lines_are_weighted_least_squares() -> None:
    values = np.random.default_rng(1).standard_normal(40).cumsum()
    at = np.arange(40)
    level, slope = local_lines(values, 4.0)
    for i in (0, 13, 39):
        weights = np.exp(-0.5 * ((at - i) / 4.0) ** 2)
        line = np.polyfit(at - i, values, 1, w=np.sqrt(weights))
        assert (slope[i], level[i]) == pytest.approx(tuple(line))


@pytest.mark.parametrize("place", [0, 50, 77])
def test_the_error_of_a_level(place: int) -> None:
    chance = np.random.default_rng(2)
    levels = [local_lines(chance.standard_normal(100), 4.0)[0][place] for _ in range(4000)]
    assert np.std(levels) == pytest.approx(line_error(100, 4.0, place), rel=0.05)


def test_the_loss_of_a_step_belongs_to_the_rate_before() -> None:
    rates = series(np.array([1, 2, 3, 4, 6]), np.array([0.1, 0.2, 0.3, 0.4, 0.6]))
    losses = series(np.array([1, 2, 4, 5, 6]), np.array([9.0, 8.0, 7.0, 6.5, 6.0]))
    found = sweep_of(rates, losses)
    assert found.rates.tolist() == [0.1, 0.2, 0.4]
    assert found.losses.tolist() == [8.0, 7.0, 6.0]
    assert not found.diverged


def test_a_loss_that_is_not_finite_ends_the_sweep() -> None:
    steps = np.arange(60)
    losses = np.where(steps < 50, 2 - steps / 50, np.nan)
    found = sweep_of(series(steps, RATES[:60]), series(steps, losses))
    assert found.diverged
    assert len(found.rates) == len(found.losses) == 49
    nothing = sweep_of(series(steps, RATES[:60]), series(steps, np.full(60, np.nan)))
    assert nothing.diverged
    assert len(nothing.losses) == 0
    assert str(read([nothing])).startswith("the loss explodes or is not finite after 0 steps")


def test_diverged() -> None:
    falling = np.linspace(3, 1, 100)
    assert not has_diverged(falling)
    assert not has_diverged(np.concatenate([falling, np.full(20, 4.0)]))  # above its start, but not far
    assert has_diverged(np.concatenate([falling, np.full(20, 40.0)]))
    assert not has_diverged(np.concatenate([falling, [40.0], falling]))  # a single spike
    assert has_diverged(np.array([1.0, np.inf]))
    assert not has_diverged(np.empty(0))


def test_final_levels_and_good_rates() -> None:
    assert final(np.concatenate([np.full(90, 5.0), np.full(10, 2.0)])) == 2.0
    assert np.isnan(final(np.array([2.0, np.nan])))
    assert np.isnan(final(np.empty(0)))
    tried = {0.01: [1.9], 0.1: [1.0, 1.0], 1.0: [1.05, 1.1], 10.0: [np.nan, 1.0], 100.0: [1.0]}
    assert good_rates(tried, start=2.0) == (0.1, 1.0)  # 100 is beyond one that diverged
    assert good_rates(tried, start=0.5) is None
    assert good_rates({0.1: [np.nan]}, start=1.0) is None
