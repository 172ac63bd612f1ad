"""Samples for LOS009."""

import numpy as np

from tests.make import healthy_loss, rng, run
from tests.samples.loss_spikes_and_recovers import with_spike
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    nan = healthy_loss(300)
    nan[200:204] = [4.0, 11.0, 30.0, 80.0]
    nan[204:] = np.nan
    up = healthy_loss(300)
    up[200:] = 7.6 + 0.1 * rng(1).standard_normal(100)
    return {"then NaN": run({"train/loss": nan}), "stays up": run({"train/loss": up})}


def stays_quiet() -> dict[str, Run]:
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "recovers": run({"train/loss": with_spike(200, 2.0)}),
        "recovers slowly": run({"train/loss": with_spike(150, 2.0, 60)}),
    }
