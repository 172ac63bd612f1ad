"""Samples for LOS011."""

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def words(end: float, entropy: float = 5.3, steps: int = 800) -> Run:
    """A language model of 2,482 words whose loss falls to `end`."""
    loss = end + (7.8 - end) * np.exp(-np.arange(steps) / 15) + 0.02 * rng(3).standard_normal(steps)
    facts: dict[str, object] = {
        "label_entropy": entropy,
        "label_max": 2481,
        "loss_name": "cross_entropy",
        "loss_reduction_seen": "mean",
    }
    return run({"train/loss": loss}, setup=Setup(facts=facts))


def fires() -> dict[str, Run]:
    noise = rng(1)
    fell = np.log(1000) + 1.2 * np.exp(-np.arange(200) / 10) + 0.005 * noise.standard_normal(200)
    return {
        "ln 10 throughout": run({"train/loss": np.log(10) + 0.005 * noise.standard_normal(100)}),
        "fell to ln 1000": run({"train/loss": fell}),
        "only how often each word occurs": words(5.3),
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
        "more than how often each word occurs": words(4.9),
        "few steps for so many words": words(5.3, steps=100),
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
        "the accuracy of one part knows better": run(
            {"train/loss": 4.605 + 0.004 * noise.standard_normal(100), "train/cls_acc": np.full(100, 0.96)}
        ),
        "a sum of three parts": run(
            {"train/loss": 4.605 + 0.004 * noise.standard_normal(100)}
            | {
                f"train/{part}_loss": 1.535 + 0.001 * noise.standard_normal(100)
                for part in ("box", "mask", "cls")
            }
        ),
        "the accuracy knows better": run(
            {"train/loss": 0.693 + 0.004 * noise.standard_normal(100), "val/accuracy": np.full(100, 0.93)}
        ),
    }


EXCEPTIONS = {"rescaled": "chance is an absolute level: ln k in nats, which rescaling moves away"}
