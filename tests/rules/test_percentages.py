"""Every percentage in a message of the rules on curves, against the series it speaks of, computed anew."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.rules.test_contract import RULES, cases, judged
from traindx.features.shared import Features
from traindx.rules.findings import fill_message
from traindx.vocabulary.rule import Evidence, Rule
from traindx.vocabulary.run import Run

PERCENT = re.compile(r"([-+]?[\d.]+(?:e[-+]?\d+)?)%")


def curve(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Steps and finite values of the objective, better when lower."""
    found = Features(run).objective
    assert found is not None
    sign = -1.0 if found.name.endswith("reward") else 1.0
    keep = np.isfinite(found.raw.values)
    return found.raw.steps[keep], sign * found.raw.values[keep]


def ends(y: np.ndarray) -> tuple[float, float]:
    """Levels at both ends, as medians of a few points."""
    few = 1 if len(y) < 20 else 3 if len(y) < 300 else 5
    tail = max(1, min(len(y) // 3, max(3, len(y) // 20)))
    return float(np.median(y[:few])), float(np.median(y[-tail:]))


def fallen(run: Run, evidence: Evidence) -> list[float]:
    start, end = ends(curve(run)[1])
    return [1 - end / start]


def last_quarter(run: Run, evidence: Evidence) -> list[float]:
    y = curve(run)[1]
    start, end = ends(y)
    tail = y[3 * len(y) // 4 :]
    line = np.polyfit(np.arange(len(tail)), tail, 1)[0] * (len(tail) - 1)
    return [min(-line / (start - end), 1.0)]


def level_since(run: Run, evidence: Evidence) -> list[float]:
    steps, _ = curve(run)
    return [float(np.mean(steps >= evidence.onset))] if evidence.where is None else []


def share_of_start(run: Run, evidence: Evidence) -> list[float]:
    steps, y = curve(run)
    at = int(np.searchsorted(steps, evidence.onset))
    near = y[max(0, at - len(y) // 80 - 1) : at + len(y) // 80 + 2]
    return [float(np.median(near)) / ends(y)[0], at / len(y)]


EXPECTED: dict[str, tuple[Callable[[Run, Evidence], list[float]], float]] = {
    "loss-falls-slowly": (fallen, 0.002),
    "loss-still-falling-at-end": (last_quarter, 0.1),
    "loss-plateaus": (level_since, 0.02),
    "loss-near-zero-early": (share_of_start, 0.02),
}


@pytest.mark.parametrize("slug", EXPECTED)
def test_percentages_are_those_of_the_series(slug: str) -> None:
    rule = next(r for r in RULES if r.slug == slug)
    naive, within = EXPECTED[slug]
    compared = 0
    for name, run, fires in cases(rule):
        for evidence in judged(rule, run).evidence if fires else ():
            percentages = [float(p) / 100 for p in PERCENT.findall(message(rule, evidence))]
            wanted = naive(run, evidence)
            if not percentages or not wanted:
                continue
            assert percentages == pytest.approx(wanted, abs=within), name
            compared += len(percentages)
    assert compared


def message(rule: Rule, evidence: Evidence) -> str:
    return fill_message(evidence.message or rule.message, evidence.values)


def test_a_steep_start_is_part_of_the_fall() -> None:
    """A loss that loses 99 % is not reported to have lost 3 %, or to be slow."""
    from tests.make import run

    rule = next(r for r in RULES if r.slug == "loss-falls-slowly")
    steep = np.where(np.arange(200) < 5, 100.0, 1.0) - 0.0002 * np.arange(200)
    assert judged(rule, run({"train/loss": steep})).status == "clear"
