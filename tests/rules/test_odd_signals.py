"""GRD, PRC and SYS rules and the log-lie detectors on signals that no training makes: never a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests import make
from traindx.features.log_artifacts import repair_run, suspicions
from traindx.features.shared import Features
from traindx.rules import catalogue, judge_one
from traindx.vocabulary.run import Event, Run
from traindx.vocabulary.setup import Setup

RULES = [r for r in catalogue() if r.family in ("GRD", "PRC", "SYS")]
NAMES = (
    "train/loss", "val/loss", "grad_norm", "clip_ratio", "loss_scale", "skipped_steps", "time/step", "time/data",
    "throughput", "mem/host", "mem/device", "util/device", "epoch", "batch_size", "train/reward",
)  # fmt: skip


def odd_values(rng: np.random.Generator, n: int) -> np.ndarray:
    """Noise, constants, extremes, counts; some with NaN, infinities or zeros in between."""
    kinds = (
        rng.standard_normal(n), np.exp(5 * rng.standard_normal(n)), np.zeros(n), np.full(n, np.nan),
        np.full(n, rng.choice([1.0, -1.0, 87.33654, 1e300, 1e-320])), np.cumsum(rng.random(n)),
        np.round(rng.random(n), 1), 2.0 ** rng.integers(-1000, 1000, n), rng.integers(0, 3, n).astype(float),
    )  # fmt: skip
    values = kinds[int(rng.integers(len(kinds)))].copy()
    if n and rng.random() < 0.4:
        values[rng.integers(0, n, max(1, n // 5))] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
    return values


def odd_run(seed: int) -> Run:
    rng = np.random.default_rng(seed)
    signals = {}
    for name in NAMES:
        n = int(rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 20, 33, 61, 500]))
        row = np.arange(n, dtype=float)
        steps = (row, np.sort(rng.integers(0, max(n // 2, 1), n)).astype(float), 1e15 * row)[
            int(rng.integers(3))
        ]
        if rng.random() < 0.65:
            signals[name] = (steps, odd_values(rng, n))
    kinds = ("resume", "skipped-step", "out-of-memory")
    events = tuple(
        Event(kinds[i], "", float(rng.integers(-5, 40))) for i in rng.integers(0, 3, int(rng.integers(4)))
    )
    setup = Setup(
        clip_norm=float(rng.choice([0.0, 1.0])), accumulation=float(rng.choice([0.0, 4.0])),
        device="cuda", facts={"compile": False},
    )  # fmt: skip
    return make.run(signals, events=events, setup=setup)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_nothing_crashes_or_warns(first: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(first, first + 100):
            run = odd_run(seed)
            assert all(e.kind == "log-suspect" for e in suspicions(run))
            for each in (run, repair_run(run)):
                features = Features(each)
                outcomes = [judge_one(rule, each, features, {}) for rule in RULES]
                said = [
                    (e.message or o.rule.message).format(**e.values) for o in outcomes for e in o.evidence
                ]
                assert all(said)
