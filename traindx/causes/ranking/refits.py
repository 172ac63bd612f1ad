"""How much the ranking depends on single programs: five fits, each without a fifth of the gym's base
programs.

If the leading cause depends on a few of the fitted programs, the fits that have not seen them rank
differently. `members.json` holds the differences of their weights from the shipped ones, for recordings,
as bytes of `STEP`.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
import numpy as np

from traindx.causes.ranking.shipped import shipped
from traindx.vocabulary.run import Floats

STEP = 0.02  # log-odds


class Members(msgspec.Struct, frozen=True):
    """Differences of each refit from the shipped fit: of `scale` and `surprise`, of
    `base[member][cause]`, and of the weights[member, key, cause], packed."""

    keys: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    scale: tuple[float, ...] = ()
    surprise: tuple[float, ...] = ()
    base: tuple[tuple[float, ...], ...] = ()
    weights: str = ""

    def differences(self) -> Floats:
        """Differences of the weights[member, key, cause], in log-odds."""
        raw = np.frombuffer(zlib.decompress(base64.b64decode(self.weights)), np.int8)
        return np.multiply(
            raw.reshape(len(self.scale), len(self.keys), len(self.causes)), STEP, dtype=np.float64
        )


@cache
def shipped_refits() -> tuple[Members, Floats]:
    """The shipped refits with their differences; empty where there is no file."""
    members = shipped("members", Members)
    return members, members.differences() if members.weights else np.zeros((0, 0, 0))


def refit_scores(
    values: Mapping[str, float], hand: Sequence[float], rest: Sequence[float], causes: Sequence[str]
) -> list[Floats]:
    """What each refit adds to the scores of `causes` for a recording with these values of signs.

    `hand` are the hand-set scores of what each cause explains, with its prior; `rest` what it loses for the
    others."""
    members, weights = shipped_refits()
    row = np.array([values.get(key, 0.0) for key in members.keys])
    place = {cause: i for i, cause in enumerate(members.causes)}
    known = np.array([place.get(cause, -1) for cause in causes])
    added = []
    for scale, surprise, base, difference in zip(
        members.scale, members.surprise, members.base, weights, strict=True
    ):
        fitted = np.append(
            np.array(base) + row @ difference, 0.0
        )  # a cause that was added after the fit has no weights
        added.append(scale * np.asarray(hand) + surprise * np.asarray(rest) + fitted[known])
    return added
