"""Frozen weights that were trained before, and those that never were."""

from __future__ import annotations

import pytest

from tests.causes.made import faults, fired
from tests.causes.verdict.test_decision import recorded
from traindx.causes.grades.setup import frozen
from traindx.features.shared import Features


@pytest.mark.parametrize(("facts", "share"), [({}, 0.9), ({"frozen_weights_drawn": "1"}, 0.9),
                                              ({"frozen_weights_drawn": "0"}, 0.0)])  # fmt: skip
def test_only_random_draws_count_as_frozen(facts: dict[str, str], share: float) -> None:
    run = recorded({"parameters_frozen": "900", "parameters_total": "1000", **facts})
    assert frozen(run, Features(run)) == pytest.approx(share)


def test_random_draws_that_are_frozen_outweigh_a_slow_fall() -> None:
    slow = fired("loss-falls-slowly", severity="low")
    assert faults(fired("parameters-frozen:random", severity="low"), slow)[0] == "frozen-parameters"
    assert (
        faults(fired("parameters-frozen:finetuning", severity="info", strength=0.25), slow)[0]
        != "frozen-parameters"
    )
