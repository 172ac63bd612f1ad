"""A long log must not need much memory: one rule that compares all pairs of 100,000 points takes tens of GB."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROWS = 100_000
LIMIT = 256  # MB of address space beyond what the imports take; a curve of so many rows takes 0.8 MB


def curves() -> Iterator[dict[str, np.ndarray]]:
    """Signals of runs that learn, break, play, and stay where they are."""
    noise, t = 1 + 0.05 * np.random.default_rng(0).standard_normal(ROWS), np.arange(ROWS) / ROWS
    down, size = 0.3 + 2 * np.exp(-5 * t), np.abs(noise)
    yield {
        "train/loss": down * noise, "val/loss": (down + np.maximum(t - 0.5, 0)) * noise, "lr": 1e-3 * (1 - t),
        "train/accuracy": 1 - down / 3, "val/accuracy": 0.9 - down / 3, "epoch": np.floor(t * 50),
        "grad_norm": size, "loss_scale": np.full(ROWS, 65536.0), "mem/device": 1e9 * (1 + t), "time/step": 0.1 * size,
    }  # fmt: skip
    yield {
        "train/loss": np.where(t > 0.9, np.nan, down * np.where(t > 0.6, np.exp(20 * (t - 0.6)), 1)) * noise,
        "val/loss": down * noise, "grad_norm": np.exp(10 * t) * size, "lr": np.where(t > 0.5, 0.1, 1e-3),
        "throughput": 100 * noise, "val/perplexity": np.exp(down),
    }  # fmt: skip
    yield {
        "train/reward": np.minimum(t, 1 - t) + 0.1 * noise, "train/kl": 10 * t * noise, "reward_std": 0.3 * size,
        "train/entropy": 1 - t, "train/loss_value": noise**2, "train/q_values": np.exp(5 * t) * noise,
    }  # fmt: skip
    yield {
        "train/loss": np.round(2.3 + 0.01 * noise, 2), "val/loss": np.full(ROWS, 2.3), "train/d_loss": 0.6 * noise,
        "train/g_loss": np.exp(t) * noise, "rank/1/train/loss": down * noise, "time/data": 0.05 * size,
        "rank/1/time/step": 0.1 * size, "time/step": 0.1 * size,
    }  # fmt: skip


def judge_every_rule() -> None:
    """Name the rules that need more memory than there is."""
    from tests import make
    from traindx.features.shared import Features
    from traindx.rules import catalogue, judge_one

    rules = catalogue()
    bound_memory()
    for columns in curves():
        run = make.run(columns)
        features = Features(run)
        for rule in rules:
            try:
                judge_one(rule, run, features, {})
            except MemoryError:
                print("needs too much memory:", rule.slug)


def diagnose_file(path: str) -> None:
    """The whole way of a file, with the page."""
    from traindx import pipeline
    from traindx.cli.main import main

    assert pipeline
    bound_memory()
    main(["diagnose", path])


def bound_memory() -> None:
    import resource

    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + LIMIT * 2**20,) * 2)


def in_process(*words: str) -> str:
    """What this module prints as a process of its own."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_memory", *words],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert "Error" not in done.stderr
    return done.stdout


needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


@needs_proc
def test_no_rule_needs_much_memory() -> None:
    assert in_process("rules") == ""


@needs_proc
@pytest.mark.parametrize("form", ["text", "table"])
def test_no_diagnosis_needs_much_memory(tmp_path: Path, form: str) -> None:
    loss, held = (next(curves())[name] for name in ("train/loss", "val/loss"))
    rows = zip(range(ROWS), loss, held, strict=True)
    path = tmp_path / ("train.log" if form == "text" else "metrics.csv")
    line = "step {} loss {:.4f} val_loss {:.4f}\n" if form == "text" else "{},{:.4f},{:.4f}\n"
    head = "" if form == "text" else "step,train_loss,val_loss\n"
    path.write_text(head + "".join(line.format(*row) for row in rows))
    assert "val/loss" in in_process(str(path))


if __name__ == "__main__":
    judge_every_rule() if sys.argv[1] == "rules" else diagnose_file(sys.argv[1])
