"""Samples for LOS001."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Event, Run


def fires() -> dict[str, Run]:
    late = healthy_loss(300)
    late[220:] = np.nan
    early = np.concatenate([[2.3, 14.0, 900.0], np.full(60, np.nan)])
    once = healthy_loss(300)
    once[150] = np.inf
    norm = 1.5 * np.exp(0.2 * rng(1).standard_normal(300))
    norm[215:220] *= 4.0 ** np.arange(1, 6)
    return {
        "late, to the end": run({"train/loss": late}),
        "norm exploded before": run({"train/loss": late, "grad_norm": norm}),
        "in the first steps": run({"train/loss": early}),
        "from the start": run({"train/loss": np.full(30, np.nan)}),
        "once": run({"train/loss": once}),
        "said by a crash": run(
            {"train/loss": healthy_loss(20)},
            events=(
                Event("crash", "FloatingPointError: Loss became infinite or NaN at iteration=27!", 19.0),
            ),
        ),
    }


def stays_quiet() -> dict[str, Run]:
    huge = 1e30 * healthy_loss(200)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "huge but finite": run({"train/loss": huge}),
        "another crash": run(
            {"train/loss": healthy_loss()}, events=(Event("crash", "KeyError: 'nan'", 5.0),)
        ),
    }
