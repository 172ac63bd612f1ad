"""Samples for LOS011."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    noise = rng(1)
    fell = np.log(1000) + 1.2 * np.exp(-np.arange(200) / 10) + 0.005 * noise.standard_normal(200)
    return {
        "ln 10 throughout": run({"train/loss": np.log(10) + 0.005 * noise.standard_normal(100)}),
        "fell to ln 1000": run({"train/loss": fell}),
        "known classes": run(
            {"train/loss": np.log(17) + 0.005 * noise.standard_normal(100)}, setup=Setup(classes=17)
        ),
        "with its accuracy": run(
            {
                "train/loss": np.log(10) + 0.005 * noise.standard_normal(100),
                "val/accuracy": np.full(100, 0.1),
            }
        ),
    }


def stays_quiet() -> dict[str, Run]:
    noise = rng(2)
    return {
        "healthy": run({"train/loss": healthy_loss()}),
        "passes through": run(
            {"train/loss": np.linspace(3.0, 2.0, 100) + 0.005 * noise.standard_normal(100)}
        ),
        "another number of classes": run(
            {"train/loss": np.log(10) + 0.005 * noise.standard_normal(100)}, setup=Setup(classes=40)
        ),
        "on its way down": run(
            {"train/loss": np.linspace(0.692, 0.684, 130) + 0.002 * noise.standard_normal(130)},
            setup=Setup(classes=2),
        ),
        "the accuracy knows better": run(
            {"train/loss": 0.693 + 0.004 * noise.standard_normal(100), "val/accuracy": np.full(100, 0.93)}
        ),
    }


EXCEPTIONS = {"rescaled": "chance is an absolute level: ln k in nats, which rescaling moves away"}
