"""No rule breaks on numbers that no sane run has: logs are damaged, cut and spliced."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests import make
from traindx.features.shared import Features
from traindx.rules import catalogue, judge_one
from traindx.vocabulary.rule import Rule
from traindx.vocabulary.run import Run

RULES = [r for r in catalogue() if r.check.__module__.startswith("traindx.rules.")]
STRANGE = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-30, 1e30, 1e300, -1e300, np.inf, -np.inf, np.nan, 0.5, 100.0]
COMMON = ("train/loss", "val/loss", "train/accuracy", "val/accuracy", "lr", "grad_norm")


def names(rule: Rule) -> list[str]:
    """Signals that let the rule be evaluated, and those that most rules look at as well."""
    wanted = [
        a for need in rule.needs for a in need.split("|") if ":" not in a and a not in ("run", "objective")
    ]
    return list(dict.fromkeys([*(a.replace("/*", "/0") for a in wanted), *COMMON]))


def values(kind: str, n: int, seed: int) -> np.ndarray:
    rng = make.rng(seed)
    if kind == "strange":
        return rng.choice(STRANGE, n)
    if kind == "constant":
        return np.full(n, rng.choice(STRANGE))
    if kind == "mostly strange":
        return np.where(rng.random(n) < 0.9, rng.choice(STRANGE[-6:], n), rng.random(n))
    damaged = np.exp(rng.normal(0, 3) + 0.3 * rng.standard_normal(n).cumsum())
    damaged[rng.random(n) < 0.05] = rng.choice(STRANGE)
    return damaged


@pytest.mark.parametrize("rule", RULES, ids=[r.slug for r in RULES])
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    kinds=st.lists(
        st.sampled_from(["strange", "constant", "mostly strange", "damaged"]), min_size=12, max_size=12
    ),
    points=st.sampled_from([1, 2, 3, 4, 5, 8, 13, 40, 150, 700]),
    seed=st.integers(0, 999),
)
def test_no_rule_breaks(rule: Rule, kinds: list[str], points: int, seed: int) -> None:
    signals: dict[str, object] = {}
    for i, (name, kind) in enumerate(zip(names(rule), kinds, strict=False)):
        n = max(1, points // (1 + (seed + i) % 3))
        steps = np.arange(n) * (1 + (seed + i) % 3) * 1.0
        signals[name] = (steps, values(kind, n, seed + i))
    run: Run = make.run(signals)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # overflow is what 1e300 does; a wrong type or index is not
        outcome = judge_one(rule, run, Features(run), {})
    for evidence in outcome.evidence:
        assert (evidence.message or rule.message).format(**evidence.values)
        assert not np.isnan(evidence.strength)
        for step in (evidence.onset, evidence.last):
            assert step is None or np.isfinite(step)
