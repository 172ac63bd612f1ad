"""Questions with a few rows: a spike that is over, a game that is level, a reward that nobody had yet."""

from __future__ import annotations

import pytest

from tests.readers.sources import memory
from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.vocabulary.diagnosis import RunDiagnosis

SPIKE = (2.31, 1.92, 1.71, 1.60, 7.95, 1.75, 1.55, 1.47, 1.41)


def diagnosed(text: str) -> RunDiagnosis:
    (log,) = read_source(memory(text))
    (run,) = assemble(log)
    return pipeline.diagnose([run]).document.runs[0]


def steps(values: tuple[float, ...]) -> str:
    return "".join(f"step {100 * i} loss {value}\n" for i, value in enumerate(values, 1))


def test_a_spike_that_is_over_needs_no_more_rows() -> None:
    found = diagnosed("What is this spike? Should I stop the run?\n\n" + steps(SPIKE))
    assert (found.health, found.decision.action) == ("healthy", "continue")
    assert "recovered" in found.decision.reason


def test_a_spike_that_is_not_over_is_no_reason_to_go_on() -> None:
    found = diagnosed("What is this spike? Should I stop the run?\n\n" + steps(SPIKE[:5]))
    assert found.decision.action != "continue"


def rows(first: str, second: str, values: tuple[tuple[float, float], ...]) -> str:
    return "".join(f"Epoch [{i}/50] {first}: {a}, {second}: {b}\n" for i, (a, b) in enumerate(values, 1))


LEVEL = (
    (1.30, 0.89),
    (1.28, 0.91),
    (1.31, 0.88),
    (1.29, 0.90),
    (1.33, 0.87),
    (1.29, 0.89),
    (1.30, 0.90),
    (1.28, 0.89),
)


def test_losses_of_a_game_that_do_not_fall_are_no_fault() -> None:
    asked = "Is my GAN ok? The losses do not go down.\n\n"
    assert diagnosed(asked + rows("d_loss", "g_loss", LEVEL)).health in ("healthy", "watch")
    assert diagnosed(asked.replace("GAN", "net") + rows("train_loss", "val_loss", LEVEL)).health == "sick"


@pytest.mark.parametrize(
    ("values", "fires"),
    [
        (("nan", "42.1", "105.4", "132.4", "148.7", "159.0", "165.8", "170.7", "174.4", "177.2"), False),
        (("20.1", "42.1", "105.4", "nan", "148.7", "159.0", "165.8", "170.7", "174.4", "177.2"), True),
        (("nan",) * 10, True),
    ],
)
def test_no_reward_before_the_first_episode_ends(values: tuple[str, ...], fires: bool) -> None:
    text = "".join(f"Episode {10 * i}       Average reward: {value}\n" for i, value in enumerate(values))
    found = diagnosed(text)
    assert ("loss-not-finite" in {f.slug for f in found.findings}) == fires
    assert fires or (found.health, found.decision.action) == ("healthy", "continue")


def test_a_loss_that_is_nan_at_first_is_still_found() -> None:
    found = diagnosed("step 1 loss nan\n" + "".join(f"step {i} loss {9 / i:.3f}\n" for i in range(2, 14)))
    assert "loss-not-finite" in {f.slug for f in found.findings}
