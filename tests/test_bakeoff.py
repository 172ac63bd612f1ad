"""Fifteen faults and eight healthy runs as somebody would paste them: each fault is seen and not called healthy, no
healthy one is alarmed. The curves follow docs/loss-curves.md. Two kinds that were missed before (a gradient norm that
vanishes while the loss still falls a little, host memory that grows) were mended first, so these are no blind trial."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.make import healthy_loss, rng
from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import Source
from traindx.vocabulary.diagnosis import SEVERITIES, RunDiagnosis

Table = dict[str, np.ndarray]
T = np.arange(200.0)


def pasted(table: Table, unit: str = "step", every: int = 10) -> str:
    """A line for each row: `step 10 loss 2.301 grad_norm 1.2`."""
    rows = zip(*table.values(), strict=True)
    return "\n".join(
        f"{unit} {every * (i + 1)} "
        + " ".join(f"{name} {value:.6g}" for name, value in zip(table, row, strict=True))
        for i, row in enumerate(rows)
    )


def diagnosed(text: str) -> RunDiagnosis:
    data = text.encode()
    logs = read_source(Source("-", data=data, head=data[:65536]))
    runs = tuple(run for log in logs for run in assemble(log))
    return pipeline.diagnose(runs).first


def noise(size: float, n: int = 200, seed: int = 3) -> np.ndarray:
    return size * rng(seed).standard_normal(n)


def spiked() -> np.ndarray:
    loss = healthy_loss(200, seed=4)
    loss[[60, 90, 120, 150, 180]] *= 6
    return loss


def nan_from(n: int) -> np.ndarray:
    loss = healthy_loss(200, seed=6)
    loss[n:] = np.nan
    return loss


FAULTS: dict[str, tuple[str, Callable[[], str]]] = {
    "vanishing gradients, the loss still improves a little": (
        "gradient-norm-vanishes",
        lambda: pasted({"loss": 2.30 - 0.12 * T / 200 + noise(0.004), "grad_norm": 3 * np.exp(-T / 18)}),
    ),
    "host memory grows evenly": (
        "memory-grows",
        lambda: pasted({"loss": healthy_loss(200), "rss_mb": 8000 + 14 * T}),
    ),
    "diverges after a good start": (
        "loss-diverges",
        lambda: pasted({"loss": healthy_loss(200) + np.where(T > 130, 0.02 * (T - 130), 0.0)}),
    ),
    "doubles from line to line": (
        "loss-diverges",
        lambda: "step 1 loss 2.4\nstep 2 loss 5.1\nstep 3 loss 11.9\n",
    ),
    "not a number": ("loss-not-finite", lambda: pasted({"loss": nan_from(150)})),
    "sits at ln 10": ("loss-at-chance", lambda: pasted({"loss": np.log(10) + noise(0.002)})),
    "never moves": ("loss-flat-from-start", lambda: pasted({"loss": 1.73 + noise(0.002)})),
    "spikes again and again": ("loss-spikes-recur", lambda: pasted({"loss": spiked()})),
    "swings": (
        "loss-oscillates",
        lambda: pasted({"loss": 1.2 + 0.3 * np.cos(np.pi * T) * np.exp(noise(0.1)) + noise(0.02)}),
    ),
    "overfits": (
        "validation-gap-grows",
        lambda: pasted(
            {"train_loss": 2 * np.exp(-T[:40] / 10), "val_loss": 0.8 + np.exp(-T[:40] / 5) + 0.02 * T[:40]},
            "epoch",
            1,
        ),
    ),
    "a gap from the first epoch": (
        "validation-gap-grows",
        lambda: pasted(
            {"train_acc": 1 - 0.4 * np.exp(-T[:8]), "val_acc": 0.31 + noise(0.02, 8)}, "epoch", 1
        ),
    ),
    "finds nothing": (
        "loss-at-chance",
        lambda: pasted({"train_loss": 3 * np.exp(-T[:30] / 20), "val_mAP": np.zeros(30)}, "epoch", 1),
    ),
    "one answer for all": (
        "metric-constant-or-impossible",
        lambda: pasted(
            {"train_loss": 0.7 - 0.001 * T[:12], "val_accuracy": np.full(12, 0.6257)}, "epoch", 1
        ),
    ),
    "the rate is gone": (
        "learning-rate-is-zero",
        lambda: pasted({"loss": np.maximum(healthy_loss(200), 1.1), "lr": np.where(T < 40, 3.2718e-4, 0.0)}),
    ),
    "the loss scale sinks": (
        "steps-skipped-often",
        lambda: "\n".join(
            f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {2.0**k}"
            for k in range(14, 0, -1)
        ),
    ),
}

HEALTHY: dict[str, Callable[[], str]] = {
    "falls and levels off": lambda: pasted({"loss": healthy_loss(200, seed=11)}),
    "a warm-up": lambda: pasted(
        {"loss": 6 - 3 * (1 - np.exp(-((T / 60) ** 2))) + noise(0.03), "lr": 1e-3 * np.minimum(T / 40, 1)}
    ),
    "one spike": lambda: pasted({"loss": healthy_loss(200, seed=12) * np.where(T == 120, 2.2, 1.0)}),
    "validation follows": lambda: pasted(
        {"train_loss": 0.4 + 1.9 * np.exp(-T[:40] / 9), "val_loss": 0.5 + 1.8 * np.exp(-T[:40] / 9)},
        "epoch",
        1,
    ),
    "validation better than training": lambda: pasted(
        {"train_loss": 0.6 + 1.7 * np.exp(-T[:40] / 9), "val_loss": 0.5 + 1.5 * np.exp(-T[:40] / 9)},
        "epoch",
        1,
    ),
    "batch noise": lambda: pasted({"loss": healthy_loss(200, noise=0.25, seed=13)}),
    "accuracy climbs": lambda: pasted(
        {"train_loss": 2 * np.exp(-T[:30] / 8) + 0.1, "val_accuracy": 0.95 - 0.8 * np.exp(-T[:30] / 6)},
        "epoch",
        1,
    ),
    "a late drop": lambda: pasted({"loss": 2.3 - 2.0 / (1 + np.exp(-(T - 120) / 4)) + noise(0.02)}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name: str) -> None:
    slug, text = FAULTS[name]
    found = diagnosed(text())
    assert slug in {f.slug for f in found.findings}
    assert found.health in ("watch", "sick", "failed")
    assert (found.health, found.decision.action) != ("healthy", "continue")


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_is_not_alarmed(name: str) -> None:
    found = diagnosed(HEALTHY[name]())
    grave = SEVERITIES[: SEVERITIES.index("medium") + 1]
    assert not [f.message for f in found.findings if f.severity in grave]
    assert found.health == "healthy"
    assert found.decision.action in ("continue", "stop")
