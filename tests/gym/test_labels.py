"""A fault counts only where it did harm against its clean twins, over all its seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.gym.fitting import exam
from benchmarks.gym.scoring import labels


def rows(
    skills: tuple[float, ...],
    fault: str | None,
    harm: str = "model",
    reported: tuple[float | None, ...] = (None, None),
) -> list[dict[str, Any]]:
    group = fault or "clean"
    return [
        {"group": group, "twin": "clean" if fault else "", "fault": fault, "cause": "learning-rate-too-high",
         "also": ["momentum-too-high"], "harm_in": harm if fault else None, "skill": s, "told": t, "true": s,
         "steps": 10, "seconds": 1.0, "id": f"{group}{i}"}
        for i, (s, t) in enumerate(zip(skills, reported, strict=False))
    ]  # fmt: skip


def verdict_of(faulty: list[dict[str, Any]], clean: list[dict[str, Any]]) -> dict[str, Any]:
    return labels.labelled([*clean, *faulty])[-1]


@pytest.mark.parametrize(
    ("faulty", "clean", "expected"),
    [
        ((0.1, 0.2), (0.95, 0.96), "hurts"),
        ((0.1, 0.95), (0.95, 0.96), "harmless"),  # one seed came through
        ((0.93, 0.94), (0.95, 0.96), "harmless"),
        ((0.0, 0.0), (0.1, 0.9), "twin-failed"),
        ((0.1,), (0.95, 0.96), "alone"),
        ((0.7, 0.7), (0.72, 0.96), "harmless"),  # within what seeds do anyhow
    ],
)
def test_verdict(faulty: tuple[float, ...], clean: tuple[float, ...], expected: str) -> None:
    found = verdict_of(rows(faulty, "f"), rows(clean, None))
    assert found["verdict"] == expected
    if expected == "hurts":
        assert found["causes"] == ["learning-rate-too-high", "momentum-too-high"]
        assert found["harm"] == pytest.approx(1 - 0.15 / 0.955, abs=1e-4)
    if expected == "harmless":
        assert found["causes"][0] == "healthy"


def test_an_untrue_report_is_harm_though_the_model_is_good() -> None:
    clean = rows((0.95, 0.95), None, reported=(0.96, 0.94))
    assert verdict_of(rows((0.95, 0.95), "f", "report", reported=(0.5, 0.6)), clean)["verdict"] == "hurts"
    assert (
        verdict_of(rows((0.95, 0.95), "f", "report", reported=(0.95, 0.9)), clean)["verdict"] == "harmless"
    )
    assert (
        verdict_of(rows((0.95, 0.95), "f", "report", reported=(0.5, None)), clean)["verdict"] == "harmless"
    )


def test_a_slow_run_is_harm() -> None:
    slow = [{**row, "seconds": 5.0} for row in rows((0.95, 0.95), "f", "time")]
    found = verdict_of(slow, rows((0.95, 0.95), None))
    assert (found["verdict"], found["harm"]) == ("hurts", pytest.approx(4.0))


def test_skill_against_naive_counting() -> None:
    rng = np.random.default_rng(0)
    out, y = rng.normal(size=(200, 4)), rng.integers(0, 4, 200)
    recalls = [np.mean([out[i].argmax() == c for i in range(200) if y[i] == c]) for c in range(4)]
    assert exam.graded(out, y, "classes") == pytest.approx((np.mean(recalls) - 0.25) / 0.75)
    assert exam.graded(np.eye(4)[y], y, "classes") == pytest.approx(1.0)
    assert exam.graded(np.zeros((200, 4)), y, "classes") == pytest.approx(0.0)


def test_skill_of_guessing_is_zero_and_of_knowing_one() -> None:
    y = np.arange(12.0)
    assert exam.graded(np.full(12, y.mean()), y, "regression") == pytest.approx(0.0)
    assert exam.graded(y, y, "regression") == pytest.approx(1.0)
    tokens = np.tile([[0, 1, 2]], (5, 1))
    assert exam.graded(np.zeros((5, 3, 3)), tokens, "lm") == pytest.approx(0.0)
    assert exam.graded(50 * np.eye(3)[tokens].transpose(0, 2, 1), tokens, "lm") == pytest.approx(1.0)
    mask = np.array([[1.0, 1.0, 0.0, 0.0]])
    assert exam.graded(np.array([[1.0, -1.0, 1.0, -1.0]]), mask, "segment") == pytest.approx(1 / 3)


def test_a_script_that_dies_where_its_twin_does_not_is_harm() -> None:
    clean = [{**row, "status": 0} for row in rows((0.95, 0.95), None)]
    died = [{**row, "status": 1} for row in rows((0.9, 0.95), "f", "end")]
    assert verdict_of(died, clean) == {**died[-1], "verdict": "hurts", "harm": 1.0,
                                       "causes": ["learning-rate-too-high", "momentum-too-high"]}  # fmt: skip
    assert verdict_of([{**died[0], "status": 0}, died[1]], clean)["verdict"] == "harmless"
    assert verdict_of(died, [clean[0], {**clean[1], "status": 1}])["verdict"] == "harmless"
