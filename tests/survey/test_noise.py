from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.survey.made import measured, rng, sound
from traindx.survey.noise import floor

pytest.importorskip("sklearn")
pytest.importorskip("cleanlab")


def spoilt(columns: dict[str, Any], share: float, classes: int = 3) -> tuple[dict[str, Any], np.ndarray]:
    """Columns with a share of the labels moved to another class, and which."""
    chance = rng(11)
    count = len(columns["label"])
    wrong = np.sort(chance.choice(count, int(share * count), replace=False))
    label = columns["label"].copy()
    label[wrong] = (label[wrong] + chance.integers(1, classes, len(wrong))) % classes
    return {**columns, "label": label}, wrong


def precision_and_recall(rows: np.ndarray, wrong: np.ndarray) -> tuple[float, float]:
    hits = len(np.intersect1d(rows, wrong))
    return hits / len(rows), hits / len(wrong)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_wrong_labels_are_found_and_counted(share: float) -> None:
    columns, wrong = spoilt(sound(900), share)
    found = measured(columns, fitted=True).measured
    precision, recall = precision_and_recall(found.rows["labels-look-noisy"], wrong)
    assert precision > 0.9
    assert recall > 0.75
    sure = found.facts["label_noise_sure_wrong"] / found.facts["label_noise_sure"]
    error = np.sqrt(share * (1 - share) / found.facts["label_noise_sure"])
    assert abs(sure - share) < 3.5 * error


def test_the_worst_come_first() -> None:
    columns, wrong = spoilt(sound(900), 0.05)
    rows = measured(columns, fitted=True).measured.rows["labels-look-noisy"]
    assert precision_and_recall(rows[:20], wrong)[0] == 1


def test_words_of_texts_are_learned_from() -> None:
    chance = rng()
    label = chance.integers(0, 2, 600)
    own = [[f"w{c}{i}" for i in range(30)] for c in "ab"]
    text = [" ".join([*chance.choice(own[k], 12), *chance.choice(own[1 - k], 3)]) for k in label]
    columns, wrong = spoilt({"text": text, "label": label}, 0.1, classes=2)
    rows = measured(columns, fitted=True).measured.rows["labels-look-noisy"]
    assert min(precision_and_recall(rows, wrong)) > 0.85


def test_what_cannot_be_judged_says_why() -> None:
    def why(columns: dict[str, Any]) -> str:
        return measured(columns, fitted=True).measured.reasons["label_noise_share"]

    assert "100 samples" in why(sound(90))
    assert "quantity" in why({**sound(200), "label": rng().standard_normal(200)})
    assert "two classes" in why({**sound(200), "label": ["a"] * 197 + ["b", "b", "c"]})


def test_rare_classes_are_left_out_and_the_rest_is_judged() -> None:
    columns, wrong = spoilt(sound(900), 0.1)
    label = [f"class {v}" for v in columns["label"]]
    label[7] = "once"
    found = measured({**columns, "label": label}, fitted=True).measured
    assert found.facts["label_noise_checked"] == 899
    assert precision_and_recall(found.rows["labels-look-noisy"], wrong)[1] > 0.9


def test_the_floor_separates_wrong_from_hard() -> None:
    assert floor(0.1, 0.1, 0.1) == pytest.approx(0.1)
    # two normal classes, 1.5 spreads apart, by numerical integration: 4.9 %, 15 %, 26 % of the quarters
    assert floor(0.049, 0.15, 0.26) < 0
