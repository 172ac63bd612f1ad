"""What the whole pipeline keeps: healthy stays healthy, and a verdict hangs on no unit."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import numpy as np
import pytest

from tests import samples
from tests.lookalikes import all_runs
from tests.rules import variants
from traindx import pipeline
from traindx.vocabulary.diagnosis import SEVERITIES, RunDiagnosis
from traindx.vocabulary.run import Run

HEALTHY = all_runs()


def diagnosed(run: Run) -> RunDiagnosis:
    return pipeline.diagnose(run).document.runs[0]


def worst(diagnosis: RunDiagnosis) -> str:
    return min((f.severity for f in diagnosis.findings), key=SEVERITIES.index, default="info")


def faulty() -> dict[str, Run]:
    """The samples on which LOS rules of high severity fire: runs that are beyond doubt ill."""
    found = {}
    for info in pkgutil.iter_modules(samples.__path__):
        if info.name in ("loss_not_finite", "loss_diverges", "loss_at_chance", "validation_gap_grows"):
            module = importlib.import_module(f"tests.samples.{info.name}")
            found |= {f"{info.name}: {name}": run for name, run in module.fires().items()}
    return found


FAULTY = faulty()
ABSOLUTE = ("at_chance", "five validations")  # ln k is a level, and half of five points are too few


@pytest.mark.parametrize("name", HEALTHY)
def test_no_alarm_on_a_healthy_lookalike(name: str) -> None:
    diagnosis = diagnosed(HEALTHY[name])
    loud = [
        f"{f.slug} ({f.severity})"
        for f in diagnosis.findings
        if f.severity in ("critical", "high", "medium")
    ]
    assert not loud
    assert diagnosis.health in ("healthy", "watch")
    assert diagnosis.decision.action != "stop"


@pytest.mark.parametrize(
    "change", [variants.rescaled, variants.relabelled, variants.halved], ids=lambda c: c.__name__
)
def test_health_hangs_on_no_unit(change: Callable[[Run], Run]) -> None:
    """No health turns from good to bad or back when units change or every second row is missing."""
    changed = {}
    for name, run in {**HEALTHY, **FAULTY}.items():
        before, after = diagnosed(run), diagnosed(change(run))
        turned = {before.health, after.health}
        # "watch" is between the two: a boundary may be crossed by one step, not by two.
        if (
            "healthy" in turned
            and turned & {"sick", "failed"}
            and not any(word in name for word in ABSOLUTE)
        ):
            changed[name] = f"{before.health} -> {after.health}: {[f.slug for f in after.findings]}"
    assert not changed


def test_every_prefix_can_be_diagnosed() -> None:
    for run in [*HEALTHY.values(), *FAULTY.values()]:
        for prefix in variants.prefixes(run):
            diagnosis = diagnosed(prefix)
            assert diagnosis.health in ("healthy", "watch", "sick", "failed")
            assert abs(sum(h.probability for h in diagnosis.hypotheses) - 1) < 1e-6


def test_one_fault_has_one_primary_finding() -> None:
    """What follows from a fault hangs on it: a run that turns NaN is not ill five times over."""
    for name, run in FAULTY.items():
        primary = [
            f
            for f in diagnosed(run).findings
            if f.consequence_of is None and f.severity in ("critical", "high")
        ]
        assert len(primary) <= 1, f"{name}: {[f.slug for f in primary]}"


def test_a_million_steps_take_no_more_memory_than_a_few_copies() -> None:
    import tracemalloc

    from tests.make import run

    n = 1_000_000
    signals = {
        f"train/metric_{i}": np.linspace(2, 1, n) + 0.01 * np.sin(np.arange(n) * (i + 1)) for i in range(3)
    }
    big = run({"train/loss": signals.pop("train/metric_0"), **signals})
    numbers = sum(s.values.nbytes + s.steps.nbytes for s in big.series.values())
    tracemalloc.start()
    diagnosed(big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * numbers
