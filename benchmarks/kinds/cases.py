"""The scripts, what each has to achieve, and the faults that are put into them."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from benchmarks import PROGRAM_FILES

SCRIPTS = PROGRAM_FILES / "kinds"


class Script(NamedTuple):
    """`bounds`: the least of each number of check.json with which a training is healthy; `variants`: other healthy
    settings, as (name, swaps)."""

    name: str
    kind: str
    bounds: dict[str, float]
    variants: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


class Case(NamedTuple):
    """`swaps` are (text, replacement), each text exactly once in the script. A diagnosis is right with one of the
    `causes` first, or one of the `findings`. Without causes the case is healthy."""

    script: str
    name: str
    causes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    swaps: tuple[tuple[str, str], ...] = ()

    @property
    def held(self) -> bool:
        return hashlib.sha256(f"{self.script}.{self.name}".encode()).digest()[0] % 2 == 1

    def text(self) -> str:
        """The script with its changes.

        Raises ValueError where a text is not in the script exactly once."""
        made = (SCRIPTS / f"{self.script}.py").read_text(encoding="utf-8")
        for old, new in self.swaps:
            if made.count(old) != 1:
                raise ValueError(
                    f"{self.script}.{self.name}: {old!r} is in the script {made.count(old)} times"
                )
            made = made.replace(old, new)
        return made


PPO, DQN, A2C = "ppo_cartpole", "dqn_cartpole", "a2c_maze"
GAN, WGAN, VAE = "dcgan_digits", "wgan_gp_ring", "vae_digits"
DPO, GRPO = "dpo_sorting", "grpo_sorting"
RATE, WRONG, WEIGHTS = "learning-rate-too-high", "wrong-loss", "unbalanced-loss-terms"
SCRIPT_LIST = (
    Script(
        PPO, "reinforcement", {"mean episode": 200}, (("many-steps", (("64, 70, 4, 4", "128, 40, 10, 8"),)),)
    ),
    Script(
        DQN,
        "reinforcement",
        {"mean episode": 150},
        (
            (
                "large-buffer",
                (
                    (
                        "BATCH, BUFFER, TARGET_EVERY = 1e-3, 0.99, 128, 20000, 50",
                        "BATCH, BUFFER, TARGET_EVERY = 5e-4, 0.99, 64, 50000, 100",
                    ),
                ),
            ),
        ),
    ),
    Script(
        A2C,
        "reinforcement",
        {"found within 60": 0.9},
        (
            (
                "more-entropy",
                (
                    (
                        "GAMMA, ENTROPY_COEFF, VF_LOSS_COEFF, GRAD_CLIP = 2e-3, 0.97, 0.01",
                        "GAMMA, ENTROPY_COEFF, VF_LOSS_COEFF, GRAD_CLIP = 2e-3, 0.97, 0.05",
                    ),
                ),
            ),
        ),
    ),
    Script(
        GAN,
        "adversarial",
        {"coverage": 0.35, "precision": 0.35},
        (
            (
                "equal-rates",
                (
                    (
                        "LR_G, LR_D, BETA1 = 40, 64, 16, 1e-3, 5e-4",
                        "LR_G, LR_D, BETA1 = 40, 64, 16, 5e-4, 5e-4",
                    ),
                ),
            ),
        ),
    ),
    Script(
        WGAN,
        "adversarial",
        {"good samples": 0.7, "modes": 7},
        (("slower", (("60, 50, 128, 8, 2e-3, 2, 0.1", "90, 50, 128, 8, 1e-3, 2, 0.1"),)),),
    ),
    Script(
        VAE,
        "adversarial",
        {"digit by code": 0.7, "precision": 0.7},
        (("beta-two", (("2e-3, 1.0", "2e-3, 0.5"),)),),
    ),
    Script(
        DPO,
        "preference",
        {"sorted": 0.75},
        (("larger-beta", (("300, 32, 5e-5, 0.3", "300, 32, 4e-5, 0.5"),)),),
    ),
    Script(
        GRPO, "preference", {"sorted": 0.8}, (("larger-beta", (("8, 8, 1e-4, 0.04", "8, 8, 1e-4, 0.1"),)),)
    ),
)
PROGRAMS = {script.name: script for script in SCRIPT_LIST}
HEALTHY = tuple(
    Case(script.name, name, swaps=swaps)
    for script in SCRIPT_LIST
    for name, swaps in (
        ("healthy", ()),
        ("seed-2", (("SEED = 1", "SEED = 2"),)),
        ("seed-3", (("SEED = 1", "SEED = 3"),)),
        *script.variants,
    )
)
