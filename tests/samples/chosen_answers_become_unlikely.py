"""Samples for chosen-answers-become-unlikely: levels as the DPO trainer of TRL logs them."""

import numpy as np
from msgspec.structs import replace

from tests.make import rng, run
from traindx.vocabulary.run import Run, series

T = np.arange(60.0)
NOISE = rng(5).standard_normal(60)


def tuned(chosen: np.ndarray, rejected: np.ndarray) -> Run:
    """`beta` is 0.1, and the reference gives -120 and -110."""
    rewards = {"chosen": 0.1 * (chosen + 120), "rejected": 0.1 * (rejected + 110)}
    margins = rewards["chosen"] - rewards["rejected"]
    return run({
        "train/loss": np.log1p(np.exp(-margins)), "logps/chosen": chosen + NOISE, "logps/rejected": rejected + NOISE,
        "train/rewards_margins": margins, "train/rewards_chosen": rewards["chosen"],
        "train/rewards_accuracies": 0.5 + 0.5 * np.tanh(margins),
    })  # fmt: skip


def validated(chosen: np.ndarray) -> Run:
    """Training pairs are learned by heart; those of validation are as given, at steps 20, 40 and 60."""
    seen = tuned(-120 + 0.5 * T, -110 - 2.0 * T)
    return replace(seen, series={**seen.series, "val/logps_chosen": series([20.0, 40, 60], chosen)})


def fires() -> dict[str, Run]:
    return {
        "both fall": tuned(-120 - 1.5 * T, -110 - 3.0 * T),
        "at once": tuned(np.where(T < 3, -120, -700.0), np.where(T < 3, -110, -900.0)),
        "far too far": tuned(-120 - 5.0 * T, -110 - 9.0 * T),
        "only those of validation pairs": validated(np.array([-130.0, -190, -260])),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "only the rejected fall": tuned(-120 + 0.1 * T, -110 - 2.0 * T),
        "validation pairs stay likely": validated(np.array([-118.0, -121, -125])),
        "a usual decline": tuned(-120 - 0.3 * T, -110 - 2.0 * T),
        "an answer of few tokens stays certain": run(
            {
                "logps/chosen": -0.3 - 0.15 * T / 60,
                "train/rewards_margins": 0.05 * T,
                "train/rewards_accuracies": 0.9 + 0 * T,
            }
        ),
        "the margin falls, too": tuned(-120 - 3.0 * T, -110 - 1.0 * T),
    }
