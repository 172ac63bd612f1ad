"""A script that trains: noisy gradient descent on a parabola, in the place of its own process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.experiment import Conducted
from traindx.vocabulary.run import Event, Run, Series, series
from traindx.vocabulary.setup import Setup

CURVATURES = np.geomspace(0.5, 20.0, 8)  # stable below a rate of 0.1


class Descent:
    """Starts of a script that descends at `rate`; `asked` are their interventions. It knows `lr` and `seed`; all
    others change nothing, and say so."""

    def __init__(self, rate: float, steps: int = 300, noise: float = 0.02, own_seed: int | None = 4) -> None:
        self.rate, self.steps, self.noise, self.own_seed = rate, steps, noise, own_seed
        self.asked: list[tuple[str, ...]] = []
        self.dies_at: int | None = None  # the start at which the power fails
        self.seeded = True  # whether its numbers follow from the seed
        self.endless = False  # more steps than there is time for

    def __call__(
        self,
        command: Sequence[str],
        out: Path,
        interventions: Sequence[str],
        steps: int | None,
        **_: Any,
    ) -> Attempt:
        if self.dies_at is not None and len(self.asked) >= self.dies_at:
            raise SystemExit("kill -9")
        self.asked.append(tuple(interventions))
        named = dict(i.split("=", 1) for i in interventions)
        given = named.get("lr", "*1")
        rate = self.rate * float(given[1:]) if given.startswith("*") else float(given)
        seed = named.get("seed", self.own_seed)
        followed = None if seed is None or not self.seeded else int(seed)
        run = self.run(rate, followed, steps or self.steps, interventions)
        over = self.endless and steps is None
        done = Conducted(
            out,
            "out-of-time" if over else "finished",
            0,
            15 if over else 0,
            0.01,
            "",
            tuple(interventions),
            True,
            (),
            (),
        )
        return Attempt(done, run)

    def run(self, rate: float, seed: int | None, steps: int, interventions: Sequence[str]) -> Run:
        losses, norms = descent(rate, seed, steps, self.noise)
        at = np.arange(steps, dtype=np.float64)
        given: dict[str, Series] = {
            "lr": series(at, np.full(steps, rate)),
            "train/loss": series(at, losses),
            "val/loss": series(at[9::10], losses[9::10] * 1.05),
            "grad_norm": series(at, norms),
        }
        idle = [s for s in interventions if s.partition("=")[0] not in ("lr", "seed")]
        events = tuple(
            Event("note", f"{s} changed nothing: there is none", code="intervention-unused") for s in idle
        )
        setup = Setup(optimizer="SGD", lr=rate, seed=self.own_seed)
        return Run(
            id="r", source="", format="traindx", framework="torch", series=given, events=events, setup=setup
        )


def descent(rate: float, seed: int | None, steps: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    x = chance.standard_normal(len(CURVATURES))
    losses, norms = np.empty(steps), np.empty(steps)
    for step in range(steps):
        slope = CURVATURES * x + noise * chance.standard_normal(len(x))
        losses[step] = 0.5 * float(CURVATURES @ x**2) + 0.01 + 0.001 * chance.random()
        norms[step] = float(np.linalg.norm(slope))
        x = np.clip(x - rate * slope, -1e4, 1e4)  # as saturating units would hold it
    return losses, norms
