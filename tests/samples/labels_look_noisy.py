"""Samples of labels-look-noisy."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "five percent": surveyed(
            label_noise_share=0.05,
            label_noise_suspects=94,
            label_noise_sure=898,
            label_noise_sure_wrong=43,
            label_noise_checked=1797,
            label_noise_where="3, 17",
        ),
        "a fifth": surveyed(
            label_noise_share=0.18,
            label_noise_suspects=329,
            label_noise_sure=898,
            label_noise_sure_wrong=169,
            label_noise_checked=1797,
            label_noise_where="3, 17",
        ),
        "no row in particular": surveyed(
            label_noise_share=0.0, label_noise_suspects=0, label_noise_sure=898, label_noise_sure_wrong=40
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "clean": surveyed(
            label_noise_share=0.002,
            label_noise_suspects=3,
            label_noise_sure=898,
            label_noise_sure_wrong=0,
            label_noise_checked=1797,
            label_noise_where="3, 17",
        ),
        "hard classes, wrong near their borders only": surveyed(
            label_noise_share=0.12,
            label_noise_suspects=210,
            label_noise_sure=898,
            label_noise_sure_wrong=9,
            label_noise_checked=1797,
            label_noise_where="3, 17",
        ),
        "two of sixty may be chance": surveyed(
            label_noise_share=0.03,
            label_noise_suspects=4,
            label_noise_sure=60,
            label_noise_sure_wrong=2,
            label_noise_checked=120,
        ),
    }
