from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.survey.made import facts, measured, rng, sound
from traindx.survey import hashes
from traindx.survey.gather import Reservoir
from traindx.survey.hashes import Seen, sample_marks
from traindx.survey.inputs import far_out
from traindx.survey.leakage import skill
from traindx.survey.rows import rank_correlation
from traindx.survey.shift import allowance, ks
from traindx.survey.table import Chunk


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=30))
def test_copies_are_those_that_a_dictionary_finds(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=np.float64)
    seen = Seen()
    seen.add(sample_marks(values[:, :1]), 0, values[:, 1])
    repeats, conflicting = hashes.copies(seen)
    first: dict[int, int] = {}
    expected = [i for i, row in enumerate(rows) if first.setdefault(row[0], i) != i]
    labels: dict[int, set[int]] = {}
    for inputs, label in rows:
        labels.setdefault(inputs, set()).add(label)
    assert repeats.tolist() == expected
    assert conflicting.tolist() == [i for i, row in enumerate(rows) if len(labels[row[0]]) > 1]


def test_equal_samples_in_other_clothes_have_equal_marks() -> None:
    values = (rng().standard_normal((200, 3)) * 1e3).astype(np.float32).astype(np.float64)
    through_text = np.array([[float(f"{v:.9g}") for v in row] for row in values])
    assert (sample_marks(values) == sample_marks(through_text)).all()
    assert len(np.unique(sample_marks(values))) == 200
    assert sample_marks(np.array([[0.0, np.nan]])) == sample_marks(np.array([[-0.0, -np.nan]]))
    assert sample_marks(np.array([[2.0**40]])) != sample_marks(np.array([[2.0**40 + 1]]))


def test_small_whole_numbers_do_not_collide() -> None:
    every = np.array([[a, b, c] for a in range(30) for b in range(30) for c in range(30)], dtype=np.float64)
    assert len(np.unique(sample_marks(every))) == len(every)


def test_thinned_marks_give_the_same_shares() -> None:
    values = rng().integers(0, 20_000, (40_000, 1)).astype(np.float64)
    other = rng(1).integers(10_000, 30_000, (20_000, 1)).astype(np.float64)
    shares = []
    for most in (1 << 22, 4000):
        training, held_out = Seen(most), Seen(most)
        training.add(sample_marks(values), 0, None)
        held_out.add(sample_marks(other), 0, None)
        assert len(training.all()[0]) <= most
        shares.append(hashes.shared_hashes(training, held_out)[1])
    assert shares[1] == pytest.approx(shares[0], abs=0.05)


def test_the_sample_is_fair_and_bounded() -> None:
    pool = Reservoir(width=1, seed=3)
    pool.most = 500
    for start in range(0, 100_000, 1000):
        pool.add(Chunk(start, np.arange(start, start + 1000, dtype=np.float64)[:, None]))
    sample = pool.sample()
    assert len(sample.rows) == 500
    assert not sample.whole
    assert (sample.features[:, 0] == sample.rows).all()
    assert (np.diff(sample.rows) > 0).all()
    # mean of a uniform sample: 5e4 with a standard error of 1e5 / sqrt(12 * 500) = 1291
    assert abs(sample.rows.mean() - 49_999.5) < 4 * 1291


@pytest.mark.parametrize("draw", ["normal", "lognormal", "sparse", "counts", "student"])
def test_healthy_features_have_no_outliers(draw: str) -> None:
    chance = rng(5)
    made = {
        "normal": chance.standard_normal(20_000),
        "lognormal": np.exp(2 * chance.standard_normal(20_000)),
        "sparse": chance.standard_exponential(20_000) * (chance.random(20_000) < 0.05),
        "counts": chance.poisson(0.3, 20_000).astype(float),
        "student": chance.standard_t(4, 20_000),
    }
    assert not far_out(made[draw])[0].any()


def test_values_of_another_world_are_found() -> None:
    for bulk in (
        rng().standard_normal(1000),
        np.exp(rng().standard_normal(1000)),
        50 + rng().standard_normal(1000),
    ):
        spoilt = bulk.copy()
        spoilt[[3, 500]] *= 1000
        if np.abs(spoilt[[3, 500]] - np.median(bulk)).min() > 50:
            far, reach = far_out(spoilt)
            assert np.flatnonzero(far).tolist() == [3, 500]
            assert reach > 10
    ages = np.clip(rng().normal(45, 15, 1000).round(), 18, 90)
    ages[7] = 999
    assert np.flatnonzero(far_out(ages)[0]).tolist() == [7]


def test_distance_of_distributions_is_that_of_their_steps() -> None:
    a, b = rng(1).standard_normal(200), rng(2).standard_normal(150) + 0.3
    naive = max(abs((a <= x).mean() - (b <= x).mean()) for x in np.concatenate([a, b]))
    assert ks(a, b) == pytest.approx(naive)
    distances = [ks(rng(i).standard_normal(100), rng(i + 9000).standard_normal(80)) for i in range(1000)]
    assert (np.array(distances) > allowance(100, 80, 0.05)).mean() <= 0.06


def test_rank_correlation() -> None:
    values = rng().standard_normal(100)
    assert rank_correlation(np.arange(100.0), np.exp(np.arange(100.0) / 10)) == pytest.approx(1)
    assert rank_correlation(values, -(values**3)) == pytest.approx(-1)
    assert rank_correlation(values, np.zeros(100)) == 0


def test_skill_of_one_feature() -> None:
    chance = rng()
    label = chance.integers(0, 4, 2000).astype(float)
    assert skill(label * 3 + 1, label, "number", "classes") == 1
    assert skill(chance.permutation(label), label, "number", "classes") < 0.1
    assert (
        skill(chance.permutation(2000).astype(float), label, "category", "classes") < 0.1
    )  # a name for each row
    target = chance.standard_normal(2000)
    assert skill(np.exp(target), target, "number", "numbers") > 0.98
    assert skill(chance.standard_normal(2000), target, "number", "numbers") < 0.1
    half = np.where(chance.random(2000) < 0.5, label, chance.integers(0, 4, 2000))
    # right for 0.5 + 0.5 / 4 of the samples, guessing for 0.25: (0.625 - 0.25) / 0.75
    assert skill(half.astype(float), label, "number", "classes") == pytest.approx(0.5, abs=0.06)


def test_missing_values_can_reveal_the_target() -> None:
    label = rng().integers(0, 2, 1000).astype(float)
    values = np.where(label == 1, np.nan, rng(1).standard_normal(1000))
    assert skill(values, label, "number", "classes") == 1


def test_constant_and_copied_features() -> None:
    columns = sound(500)
    columns["const"] = np.full(500, 7.0)
    columns["again"] = columns["a"]
    columns["fahrenheit"] = columns["b"] * 1.8 + 32
    found = facts(columns)
    assert (found["inputs_constant_features"], found["inputs_constant_where"]) == (1, "const")
    assert found["inputs_duplicate_features"] == 2
    assert "again = a" in found["inputs_duplicate_where"]
    assert "fahrenheit = b" in found["inputs_duplicate_where"]
    columns["fahrenheit"] = columns["fahrenheit"] + 1e-3 * rng(8).standard_normal(500)
    assert facts(columns)["inputs_duplicate_features"] == 1


def test_columns_differ_though_chunks_are_equal() -> None:
    chunk = rng().standard_normal((1 << 17, 1))
    first, second = np.concatenate([chunk, chunk + 1]), np.concatenate([chunk + 1, chunk])
    assert facts(np.hstack([first, second]), None)["inputs_duplicate_features"] == 0
    assert facts(np.hstack([first, first]), None)["inputs_duplicate_features"] == 1


def test_order() -> None:
    columns = sound(900)
    by_class = np.argsort(columns["label"], kind="stable")
    assert abs(facts(columns)["rows_class_purity"]) < 0.05
    assert facts({k: v[by_class] for k, v in columns.items()})["rows_class_purity"] > 0.9
    number = {"a": columns["a"], "label": np.sort(rng().standard_normal(900))}
    assert facts(number)["rows_target_trend"] == pytest.approx(1)


def test_purity_counts_pairs() -> None:
    label = rng().integers(0, 3, 320)
    same = pairs = 0
    for window in label.reshape(-1, 32):
        for i in range(32):
            for j in range(i):
                same, pairs = same + (window[i] == window[j]), pairs + 1
    counts = np.bincount(label)
    chance = (counts * (counts - 1)).sum() / (320 * 319)
    found = facts({"a": rng(1).standard_normal(320), "label": label})
    assert found["rows_class_purity"] == pytest.approx((same / pairs - chance) / (1 - chance))


def test_overlap_and_shift() -> None:
    training, fresh = sound(800, seed=1), sound(400, seed=2)
    same = {k: np.concatenate([v[:100], fresh[k][100:]]) for k, v in training.items()}
    apart = {**fresh, "c": fresh["c"] + 2}
    rare = {k: v[(fresh["label"] != 0) | (np.arange(400) % 10 == 0)] for k, v in fresh.items()}
    clean = facts(training, validation=fresh)
    assert clean["train_val_overlap_share"] == 0
    assert clean["val_shifted_features"] == 0
    assert clean["val_target_shift"] < clean["val_target_shift_chance"]
    found = measured(training, validation=same)
    assert found.measured.facts["train_val_overlap_share"] == 0.25
    assert found.measured.rows["train-and-validation-overlap"].tolist() == list(range(100))
    shifted = facts(training, validation=apart)
    assert (shifted["val_shifted_features"], shifted["val_shift_where"]) == (1, "c")
    other = facts(training, validation=rare)
    assert other["val_target_shift"] > other["val_target_shift_chance"]


def test_labels_as_they_are_written() -> None:
    words = ["yes", "no", "Yes ", "NO"] * 50
    found = facts({"a": rng().standard_normal(200), "label": words})
    assert found["label_twins"] == 2
    assert "'yes' / 'Yes '" in found["label_twins_where"]
    counted = facts({"a": rng().standard_normal(200), "label": [1, 2, 4, 5] * 50})
    assert (counted["label_min"], counted["label_max"], counted["label_gaps"]) == (1, 5, 1)
    unseen = facts(sound(90), validation={**sound(30), "label": [0, 1, 9] * 10})
    assert (unseen["label_unseen_classes"], unseen["label_unseen_where"]) == (1, "9")


@pytest.mark.parametrize(
    ("target", "task"),
    [
        ([0, 1] * 100, "classes"),
        ([0.0, 1.0] * 100, "classes"),
        (["a", "b"] * 100, "classes"),
        ([True, False] * 100, "classes"),
        (list(range(40)) * 5, "classes"),
        (list(range(17, 67)) * 4, "numbers"),
        ([i / 7 for i in range(200)], "numbers"),
        (list(range(200)), "numbers"),
    ],
)
def test_what_a_target_is_taken_for(target: list[object], task: str) -> None:
    assert facts({"a": rng().standard_normal(200), "label": target})["target_task"] == task


def test_slices() -> None:
    columns = sound(2000, classes=2)
    group = np.where(rng(4).random(2000) < 0.3, "p", "q")
    columns["label"] = np.where((group == "p") & (rng(6).random(2000) < 0.5), 0, columns["label"])
    found = facts(columns, sensitive=group)
    rates = {g: columns["label"][group == g].mean() for g in "pq"}
    assert abs(found["slice_label_gap"]) == pytest.approx(abs(rates["p"] - rates["q"]))
    assert found["slice_label_gap_errors"] > 6
    even = facts(sound(2000), sensitive=rng(5).permutation(group))
    assert even["slice_label_gap_errors"] < 4
    assert "slice_label_gap" not in facts(columns)
