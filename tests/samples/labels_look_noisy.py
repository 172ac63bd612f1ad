"""Samples of labels-look-noisy."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def noise(share: float, sure: int, wrong: int, floor: float, skill: float) -> Run:
    """`wrong` of `sure` samples disagree, down to `floor` where the model is surest."""
    return surveyed(
        label_noise_share=share,
        label_noise_suspects=int(2 * sure * share),
        label_noise_checked=2 * sure,
        label_noise_where="3, 17 and 40 more",
        label_noise_sure=sure,
        label_noise_sure_wrong=wrong,
        label_noise_floor=floor,
        label_noise_skill=skill,
    )


def fires() -> dict[str, Run]:
    return {
        "five percent": noise(0.05, 898, 43, 0.04, 0.9),
        "a fifth": noise(0.18, 898, 169, 0.19, 0.75),
        "a tenth among hard classes": noise(0.15, 1000, 135, 0.07, 0.5),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "clean": noise(0.002, 898, 0, 0.0, 0.96),
        "hard classes, wrong near their borders only": noise(0.12, 898, 9, 0.0, 0.8),
        "two normal classes that overlap": noise(0.12, 2000, 164, -0.035, 0.55),
        "four of two hundred may be chance": noise(0.03, 210, 4, 0.019, 0.9),
    }
