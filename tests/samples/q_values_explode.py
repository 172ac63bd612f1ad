"""Samples for q-values-explode: names and levels as DQN and SAC of CleanRL log them."""

import msgspec
import numpy as np

from tests.make import rng, run
from traindx.vocabulary.run import Run

T = np.arange(60.0)
RETURN = 20 + 4 * rng(3).standard_normal(60)


def agent(
    values: np.ndarray, name: str = "losses/q_values", reward: str = "train/charts_episodic_return"
) -> Run:
    return run({reward: RETURN, name: values, "train/loss": 0.1 + 0.01 * T})


def losses(values: np.ndarray, **rewards: np.ndarray) -> Run:
    """Where no rewards are logged, the program still plays in a simulator."""
    made = run({"train/loss": values, **rewards})
    return msgspec.structs.replace(made, setup=made.setup.with_facts({"simulator": "gymnasium"}, "test"))


def fires() -> dict[str, Run]:
    return {
        "grows by a fifth each time": agent(1.2**T),
        "twin critics": agent(2.0 * 1.25**T, "losses/qf1_values"),
        "below zero": agent(-(1.3**T), "losses/qf2_values"),
        "a loss that grows by half each time, without Q values": losses(1.5**T),
        "rewards per step": agent(1.5**T, reward="train/reward"),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "learns": agent(20 * (1 - np.exp(-T / 10))),
        "above the returns, and settled": agent(40 + 0.1 * T),
        "a sum of many steps": agent(1.1**T, reward="train/reward"),
        "a loss that grows with the square of the returns": losses(
            0.02 + (T / 2) ** 2, **{"train/reward": RETURN}
        ),
        "a policy's loss that is 0 at first": losses(1e-9 + 1e-2 * T, **{"train/reward": RETURN}),
        "the critic's loss": agent(1.2**T, "losses/qf1_loss"),
        "large from the start": agent(np.full(60, 5000.0)),
    }
