"""Levels, growth, outliers and loss scales, against theory and naive versions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests import make
from traindx.features.performance import level_shifts
from traindx.features.shared import Features


@given(st.lists(st.booleans(), max_size=30))
def test_stretches_cover_the_mask(mask: list[bool]) -> None:
    found = level_shifts.stretches(np.array(mask, dtype=bool))
    again = np.zeros(len(mask), dtype=bool)
    for start, stop in found:
        again[start:stop] = True
        assert stop > start
    assert again.tolist() == mask
    assert all(a[1] < b[0] for a, b in pairwise(found))


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5))
def test_stretches_match_a_naive_scan(flags: list[bool], least: int) -> None:
    naive, start = [], None
    for i, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = i
        if not flag and start is not None:
            if i - start >= least:
                naive.append((start, i))
            start = None
    assert level_shifts.stretches(np.array(flags, dtype=bool), least) == naive


def test_start_up_never_takes_more_than_a_third() -> None:
    assert level_shifts.start_up(0, 0.1) == 0
    assert level_shifts.start_up(2, 0.1) == 0
    assert level_shifts.start_up(9, 0.05) == 1
    assert level_shifts.start_up(9, 0.9) == 3
    assert level_shifts.start_up(1000, 0.05) == 50


@pytest.mark.parametrize("n", [12, 60, 400, 5000])
@pytest.mark.parametrize("at", [0.3, 0.5, 0.8])
def test_levels_finds_a_step_where_it_is(n: int, at: float) -> None:
    cut = int(at * n)
    values = np.where(np.arange(n) < cut, 0.0, 1.0) + 0.05 * make.rng(n).standard_normal(n)
    found = level_shifts.levels(values, least=0.2, score=4.0, margin=3)
    assert len(found) == 2
    assert abs(found[1].start - cut) <= max(2, n // 500)
    assert [round(level.value) for level in found] == [0, 1]


def test_levels_finds_an_episode_in_the_middle() -> None:
    values = 0.05 * make.rng(1).standard_normal(600)
    values[200:290] += 1.0
    found = level_shifts.levels(values, least=0.2, score=4.0, margin=3)
    assert [round(level.value) for level in found] == [0, 1, 0]
    assert found[1].start == pytest.approx(200, abs=2)
    assert found[1].stop == pytest.approx(290, abs=2)


def test_levels_does_not_cut_noise_ramps_or_single_outliers() -> None:
    rng = make.rng(2)
    cut = []
    for n in (30, 200, 1500):
        noise = rng.standard_normal((40, n))
        ramps = np.linspace(0, 20, n) + noise
        spiked = noise.copy()
        spiked[:, :: max(n // 10, 7)] += 50.0
        cut += [
            len(level_shifts.levels(row, least=0.2, score=4.0, margin=3))
            for row in (*noise, *ramps, *spiked)
        ]
    assert np.mean(np.array(cut) > 1) <= 0.01


def test_levels_cover_all_rows_once() -> None:
    values = np.repeat([0.0, 2.0, 1.0, 3.0], 777) + 0.01 * make.rng(3).standard_normal(3108)
    found = level_shifts.levels(values, least=0.2, score=4.0, margin=3)
    assert found[0].start == 0
    assert found[-1].stop == len(values)
    assert all(a.stop == b.start for a, b in pairwise(found))
    assert len(found) == 4


def test_growth_of_known_shapes() -> None:
    t = np.linspace(0, 1, 3000)
    line, saturating, level = (
        level_shifts.growth(1 + t),
        level_shifts.growth(2 - np.exp(-t * 12)),
        level_shifts.growth(np.ones(3000)),
    )
    assert line.ratio == pytest.approx(2.0, abs=0.05)
    assert line.correlation == pytest.approx(1.0)
    assert line.late == pytest.approx(1 / 3, abs=0.03)
    assert line.rises == 1.0
    assert saturating.late < 0.02
    assert (level.ratio, level.late, level.rises) == (1.0, 0.0, 0.0)


def test_shares_take_either_convention() -> None:
    assert level_shifts.shares(np.array([1.0, 0.0]), np.array([4.0, 4.0])) == pytest.approx([0.25, 0.0])
    assert level_shifts.shares(np.array([3.0, 3.0]), np.array([1.0, 1.0])) == pytest.approx([0.75, 0.75])
    assert level_shifts.shares(np.zeros(2), np.zeros(2)) == pytest.approx([0.0, 0.0])


def test_isolated_slow_says_what_they_cost() -> None:
    times = np.ones(200)
    times[[50, 90, 91, 150]] = 11.0
    times[100:110] = 11.0
    slow = level_shifts.isolated_slow(times, factor=3.0, longest=2, skip=10)
    assert slow.rows.tolist() == [50, 90, 91, 150]
    assert slow.excess == pytest.approx(40 / times[10:].sum())


def test_periodic() -> None:
    assert level_shifts.periodic(np.arange(10, 500, 25), tolerance=0.1)
    assert level_shifts.periodic(np.delete(np.arange(10, 500, 25), [3, 9]), tolerance=0.1)
    assert not level_shifts.periodic(np.array([10, 35]), tolerance=0.1)
    random = [
        level_shifts.periodic(np.sort(make.rng(s).permutation(600)[:25]), tolerance=0.1) for s in range(200)
    ]
    assert np.mean(random) < 0.05


def test_near_matches_a_naive_search() -> None:
    rng = make.rng(4)
    steps = np.cumsum(rng.integers(1, 12, 80)).astype(float)
    others = np.sort(rng.integers(-5, int(steps[-1]) + 10, 12)).astype(float)
    before = [2 * steps[0] - steps[1], *steps[:-1]]
    after = [*steps[1:], 2 * steps[-1] - steps[-2]]
    naive = [any(a < o < b for o in others) for a, b in zip(before, after, strict=True)]
    assert level_shifts.is_near(steps, others).tolist() == naive
    assert not level_shifts.is_near(steps, np.empty(0)).any()


def test_halvings_and_when_a_scale_settles() -> None:
    scale = 2.0 ** np.array([32, 31, 29, 28, 28, 28, 28, 29, 28, 28], dtype=float)
    assert level_shifts.halvings(scale).tolist() == [0, 1, 2, 1, 0, 0, 0, -1, 1, 0]
    assert level_shifts.settling_row(scale, rows=3) == 3
    assert level_shifts.settling_row(2.0 ** np.arange(10, 0, -1), rows=3) is None
    assert level_shifts.settling_row(np.full(5, 8.0), rows=3) == 0


def test_counts_are_read_both_ways() -> None:
    each = np.array([10.0, 8, 1, 0, 0, 2, 0])
    assert level_shifts.events_per_row(each) is each
    assert level_shifts.events_per_row(np.cumsum(each)).tolist() == [
        0,
        8,
        1,
        0,
        0,
        2,
        0,
    ]  # before the first row nothing is known


def test_durations_come_from_time_or_throughput() -> None:
    both = Features(make.run({"time/step": [2.0, 0.0, 4.0], "throughput": [9.0, 9.0, 9.0]}))
    assert level_shifts.durations(both).seconds.tolist() == [2.0, 4.0]
    assert level_shifts.durations(both).steps.tolist() == [0.0, 2.0]
    rate = level_shifts.durations(Features(make.run({"throughput": [4.0, 8.0]})))
    assert (rate.signal, rate.seconds.tolist()) == ("throughput", [0.25, 0.125])
    assert len(level_shifts.durations(Features(make.run({"train/loss": [1.0]}))).seconds) == 0


def test_work_that_grows_explains_time_that_grows() -> None:
    steps = np.arange(10.0)
    run = make.run(
        {"time/step": np.linspace(1, 4, 10), "mean_seq_length": np.linspace(100, 200, 10)}, steps=steps
    )
    duration = level_shifts.durations(Features(run))
    assert level_shifts.work_grows(Features(run), duration, 0.0, 9.0, 4.0)
    assert not level_shifts.work_grows(Features(run), duration, 0.0, 9.0, 4.5)
    rate = make.run({"throughput": np.ones(10), "batch_size": np.linspace(1, 9, 10)})
    assert not level_shifts.work_grows(Features(rate), level_shifts.durations(Features(rate)), 0.0, 9.0, 4.0)


def test_a_clock_is_turned_into_step_times() -> None:
    rng = make.rng(6)
    steps = np.arange(200.0, 12_000, 200)
    each = 0.043 * np.exp(0.05 * rng.standard_normal(len(steps)))
    clock = np.cumsum(each * 200)
    duration = level_shifts.durations(Features(make.run({"time/step": (steps, clock)})))
    assert duration.seconds == pytest.approx(each[1:])
    average = make.run({"time/step": (steps, clock / steps)})
    assert level_shifts.durations(Features(average)).seconds == pytest.approx(clock / steps)
    creeping = np.linspace(0.5, 1.2, 60)
    assert not level_shifts.is_clock(np.arange(60.0), creeping)


def test_a_ramp_is_no_stairs_however_it_is_cut() -> None:
    """A level's share of the sum of absolute distances to a line cut into k parts is 1 / k of one level's; a
    line's is that of the noise."""
    rng = np.random.default_rng(0)
    ramp = np.linspace(0.002, 0.04, 300) + 0.0002 * rng.normal(size=300)
    for parts in (2, 3, 5):
        edges = np.linspace(0, 300, parts + 1).astype(int)
        cut = [level_shifts.Level(a, b, 0.0) for a, b in pairwise(edges)]
        assert not level_shifts.is_stairs(ramp, cut)
    jump = np.concatenate([np.full(150, 0.01), np.full(150, 0.03)]) + 0.001 * rng.normal(size=300)
    assert level_shifts.is_stairs(jump, level_shifts.levels(np.log(jump), least=0.15, score=4.0, margin=3))
    assert not level_shifts.is_stairs(jump, [level_shifts.Level(0, 300, 0.02)])


@pytest.mark.parametrize("n", [12, 18, 19, 40, 200])
def test_a_jump_is_one_leap_wherever_it_is(n: int) -> None:
    creep = np.arange(n) * 1e-4  # nothing is quite level
    leaps = [
        level_shifts.growth(np.where(np.arange(n) < k, 1.0, 1.2) + creep).leap
        for k in range(n // 3, n - n // 3)
    ]
    assert min(leaps) > 0.9
    assert level_shifts.growth(1 + creep).leap < 0.2


def test_step_times_are_read_without_what_other_processes_took() -> None:
    """Every tenth step waits a second for a processor: of that nothing is left, and of a loader that stalls
    all is."""
    steps = np.arange(1.0, 201.0)
    waits = np.where(steps % 10 == 0, 1.0, 0.0)
    taken, queued = (steps, 0.1 + waits), (steps[20:], waits[20:])
    logged = level_shifts.durations(Features(make.run({"time/step": taken, "time/queued": queued})))
    assert logged.seconds[20:] == pytest.approx(np.full(180, 0.1))
    assert logged.seconds[:20] == pytest.approx(0.1 + waits[:20])  # of these it is not known
    stalled = level_shifts.durations(
        Features(make.run({"time/step": taken, "time/queued": (steps, 0 * steps)}))
    )
    assert stalled.seconds == pytest.approx(0.1 + waits)
