"""How firm the weights are: the same fit without a fifth of its base programs, five times.

Where the leading answer hangs on a few of the programs that the weights were fitted on, the fits that have not seen
them say something else. `members.json` keeps how far the weights of these fits are from those that are shipped, for
recordings, as bytes of `STEP`.
"""

from __future__ import annotations

import base64
import pkgutil
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
import numpy as np

from traindx.vocabulary.run import Floats

FILE = "data/members.json"
STEP = 0.02  # log-odds


class Members(msgspec.Struct, frozen=True):
    """Differences of each member to the shipped fit: of `scale` and `surprise`, of `base[member][cause]`, and of the
    weights[member, key, cause], packed."""

    keys: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    scale: tuple[float, ...] = ()
    surprise: tuple[float, ...] = ()
    base: tuple[tuple[float, ...], ...] = ()
    weights: str = ""

    def differences(self) -> Floats:
        """Of the weights[member, key, cause], in log-odds."""
        raw = np.frombuffer(zlib.decompress(base64.b64decode(self.weights)), np.int8)
        return np.multiply(
            raw.reshape(len(self.scale), len(self.keys), len(self.causes)), STEP, dtype=np.float64
        )


@cache
def shipped() -> tuple[Members, Floats]:
    """The members that are shipped, with their differences; none where there is no file."""
    try:
        data = pkgutil.get_data("traindx.causes", FILE)
    except FileNotFoundError:
        return Members(), np.zeros((0, 0, 0))
    members = msgspec.json.decode(data or b"{}", type=Members)
    return members, members.differences()


def moved(
    values: Mapping[str, float], hand: Sequence[float], rest: Sequence[float], causes: Sequence[str]
) -> list[Floats]:
    """What each member adds to the scores of `causes` for a recording with these values of signs, whose scores by hand
    are `hand` (with what the cause explains, priors among them) and `rest` (what it loses for the others)."""
    members, weights = shipped()
    row = np.array([values.get(key, 0.0) for key in members.keys])
    place = {cause: i for i, cause in enumerate(members.causes)}
    known = np.array([place.get(cause, -1) for cause in causes])
    added = []
    for scale, surprise, base, own in zip(
        members.scale, members.surprise, members.base, weights, strict=True
    ):
        fitted = np.append(np.array(base) + row @ own, 0.0)  # a cause younger than the fit has nothing
        added.append(scale * np.asarray(hand) + surprise * np.asarray(rest) + fitted[known])
    return added
