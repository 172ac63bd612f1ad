"""Samples for LOS012."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    t = np.arange(300)
    memorized = 2.3 * np.exp(-t / 3) + 1e-4 * np.exp(0.2 * rng(1).standard_normal(300))
    return {
        "memorized": run({"train/loss": memorized}),
        "within the first epoch": run({"train/loss": memorized, "epoch": t / 30}),
    }


def stays_quiet() -> dict[str, Run]:
    t = np.arange(300)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "the search of L-BFGS": run(
            {"train/loss": 2.3 * np.exp(-t / 3)}, setup=Setup().with_facts({"optimizer": "LBFGS"}, "given")
        ),
        "late": run({"train/loss": 2.3 * np.exp(-t / 40)}),
        "falls far, not to zero": run({"train/loss": 0.2 + 2.1 * np.exp(-t / 3)}),
    }
