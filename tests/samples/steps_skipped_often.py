"""Samples of steps-skipped-often."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Event, Run

EXCEPTIONS = {"relabelled": "a share of the optimizer's steps needs steps that count them"}


def fires() -> dict[str, Run]:
    rng = make.rng(1)
    steps = np.arange(10, 4001, 10)
    counts = np.zeros(400)
    counts[0] = 10
    late = counts.copy()
    late[250:] = rng.integers(2, 7, 150)
    skipped = tuple(
        Event("skipped-step", "overflow", float(s)) for s in np.flatnonzero(rng.random(300) < 0.3) + 100
    )
    return {
        "per interval, from the middle on": make.run(
            {"train/loss": make.healthy_loss(), "skipped_steps": late}, steps=steps
        ),
        "counted up": make.run(
            {"train/loss": make.healthy_loss(), "skipped_steps": np.cumsum(late)}, steps=steps
        ),
        "one by one": make.run({"train/loss": make.healthy_loss()}, events=skipped),
    }


def stays_quiet() -> dict[str, Run]:
    steps = np.arange(10, 4001, 10)
    start = np.zeros(400)
    start[:3] = [10, 8, 1]
    tries = start.copy()
    tries[100::100] = 1
    few = tuple(Event("skipped-step", "overflow", float(s)) for s in range(16))
    return {
        "the search at the start": make.run(
            {"train/loss": make.healthy_loss(), "skipped_steps": start}, steps=steps
        ),
        "an occasional try": make.run(
            {"train/loss": make.healthy_loss(), "skipped_steps": tries}, steps=steps
        ),
        "counted up": make.run(
            {"train/loss": make.healthy_loss(), "skipped_steps": np.cumsum(tries)}, steps=steps
        ),
        "sixteen at the start, one by one": make.run({"train/loss": make.healthy_loss()}, events=few),
    }
