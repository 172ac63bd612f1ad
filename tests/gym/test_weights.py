"""The shipped weights are what the committed script gives on the committed signs: needs scipy."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest

pytest.importorskip("scipy")

from benchmarks.gym.fitting import fit, weigh
from traindx.causes.catalogue import catalogue
from traindx.causes.ranking.fitted import VIEWS, fitted_weights
from traindx.causes.ranking.rank import Members
from traindx.causes.ranking.signs import CLEAR


def test_the_weights_are_what_script_and_signs_give() -> None:
    kept = json.loads(weigh.WEIGHTS.read_text(encoding="utf-8"))
    made, homes, members = weigh.fitted(kept["date"])
    assert made["data"] == kept["data"]
    assert made["rows"] == kept["rows"]
    for view in VIEWS:
        assert made["scale"][view] == pytest.approx(kept["scale"][view], abs=0.02)
        assert made["surprise"][view] == pytest.approx(kept["surprise"][view], abs=0.02)
    pairs = {
        (key, cause) for table in (made, kept) for key, row in table["weights"].items() for cause in row
    }
    for key, cause in pairs:  # weights just below what is kept may be there or not
        there = [table["weights"].get(key, {}).get(cause, 0.0) for table in (made, kept)]
        assert there[0] == pytest.approx(there[1], abs=0.05), (key, cause)
    assert flat(made["temper"]) == pytest.approx(flat(kept["temper"]), abs=0.02)
    stored = msgspec.json.decode(weigh.MEMBERS.read_bytes(), type=Members)
    assert (members.keys, members.causes) == (stored.keys, stored.causes)
    assert np.abs(members.differences() - stored.differences()).max() < 0.07
    assert np.abs(np.array(members.base) - np.array(stored.base)).max() < 0.05
    assert msgspec.to_builtins(homes).keys() == json.loads(weigh.HOMES.read_text(encoding="utf-8")).keys()


def flat(stored: dict[str, Any], name: str = "") -> dict[str, float]:
    """The numbers of a nested table."""
    found = {}
    for key, value in stored.items():
        found |= flat(value, f"{name}/{key}") if isinstance(value, dict) else {f"{name}/{key}": value}
    return found


def test_a_sign_that_goes_with_a_cause_gets_its_weight() -> None:
    """On runs made so that one sign means one cause, the fit says so, and turns no other."""
    causes = [c.slug for c in catalogue()]
    flat = dict.fromkeys(causes, 0.0)
    common = {"view": "loss", "level": "loss", "verdict": "hurts", "second": [], "hand": flat, "rest": {}}
    one = [
        {**common, "signs": {"loss-diverges": 1.0}, "causes": ["learning-rate-too-high"]} for _ in range(40)
    ]
    other = [
        {**common, "signs": {"loss-plateaus": 1.0}, "causes": ["insufficient-capacity"]} for _ in range(40)
    ]
    table = fit.table([*one, *other], causes)
    model = fit.fit(table)
    stored = model.probabilities(table)
    assert table.causes[int(stored[0].argmax())] == "learning-rate-too-high"
    assert table.causes[int(stored[-1].argmax())] == "insufficient-capacity"
    weight = model.weights[table.keys.index("loss-diverges")]
    assert int(weight.argmax()) == table.causes.index("learning-rate-too-high")


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 4))
    right = np.eye(4, dtype=bool)[[0, 1, 2, 3, 0, 1]]
    second = np.zeros_like(right)
    second[0, 2] = True
    blank = np.zeros((6, 4))
    table = fit.Table(
        [{}] * 6, (), tuple("abcd"), blank, blank, blank, blank, right, second, np.linspace(0.5, 1, 6)
    )
    total, slope = fit.loss_of(scores, table)
    for place in ((0, 2), (3, 1), (5, 1)):
        moved = scores.copy()
        moved[place] += 1e-6
        assert (fit.loss_of(moved, table)[0] - total) / 1e-6 == pytest.approx(slope[place], abs=1e-5)


def test_the_signs_hold_what_the_ranking_reads() -> None:
    rows = weigh.all_rows()
    assert {row["view"] for row in rows} == set(VIEWS)
    keys = {key for row in rows for key in row["signs"]}
    assert set(fitted_weights().weights) <= keys
    assert not any(key.startswith(CLEAR) for key in fitted_weights().weights)
