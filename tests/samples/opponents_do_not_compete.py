"""Samples for opponents-do-not-compete: names and levels as the DCGAN example and WGANs print them."""

import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
NOISE = np.exp(0.1 * rng(3).standard_normal(60))


def game(judge: np.ndarray, maker: np.ndarray) -> Run:
    return run({"train/loss_d": judge, "train/loss_g": maker})


def fires() -> dict[str, Run]:
    gone = np.exp(-T / 5) * NOISE
    return {
        "both win": game(1.4 * gone, 0.3 * gone),
        "the discriminator does not learn": game(
            (1.5 + 2.4 * (1 - np.exp(-T / 5))) * NOISE, 0.07 + 1.3 * gone
        ),
        "a critic without bound": game(-(1.4**T) * NOISE, 1.4**T * NOISE),
        "both fall without bound": game(-(1.4**T) * NOISE, -(1.4**T)),
        "a critic of thousands": game(-5e3 * (1 - np.exp(-T / 20)) * NOISE, 300 * NOISE),
        "samples that come no closer": game(-30 * (1 - np.exp(-T / 5)) * NOISE, 100 * NOISE),
    }


def stays_quiet() -> dict[str, Run]:
    gone = np.exp(-T / 5) * NOISE
    return {
        "balanced": game(1.3 * NOISE, 0.9 * NOISE),
        "the discriminator wins": game(1.4 * gone, 1 + T / 6),
        "the generator gains": game(1.5 * NOISE, 0.5 + gone),
        "samples that come closer": game(-800 * np.exp(-T / 40) * NOISE, 900 * NOISE),
        "a critic that grows and falls": game(-60 * np.sin(T / 20) * NOISE, 60 * np.sin(T / 20) * NOISE),
    }
