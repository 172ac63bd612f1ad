"""Samples for LOS099."""

import numpy as np

from tests.make import healthy_loss, run
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {"one value": run({"train/loss": np.full(60, 0.25)})}


def stays_quiet() -> dict[str, Run]:
    return {"healthy": run({"train/loss": healthy_loss()})}
