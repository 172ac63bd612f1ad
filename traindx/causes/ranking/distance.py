"""How far a run is from the runs that the ranking was fitted on, and how certain the ranking may be at
that distance.

`homes.json` holds the signs of the fitted runs as bits. The distance of a run is 1 minus the share of
signs that it has in common with the nearest of them; rare signs count more. The larger the distance, the
flatter the probabilities. How much flatter was fitted on programs that the weights had not seen.
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec
import numpy as np

from traindx.causes.ranking.shipped import load_shipped
from traindx.causes.ranking.signs import CLEAR
from traindx.vocabulary import Floats

MIDDLE = 0.5  # about the median distance of unseen programs


class Homes(msgspec.Struct, frozen=True):
    """Signs of the fitted runs: `rows` are their sets of `keys`, eight to a byte, in hexadecimal."""

    keys: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()

    def bits(self) -> Floats:
        """`bits[n, keys]`, 1 where a run has a sign."""
        raw = np.frombuffer(bytes.fromhex("".join(self.rows)), np.uint8).reshape(len(self.rows), -1)
        return np.unpackbits(raw, axis=1, count=len(self.keys)).astype(np.float64)


class Temper(msgspec.Struct, frozen=True):
    """At distance d, scores are divided by exp(`flat` + `flatter` * (d - MIDDLE)). Then a share of the
    probability, with log-odds `doubt` + `more_doubt` * (d - MIDDLE), goes to causes by how often they
    are right (`usual`)."""

    flat: float = 0.0
    flatter: float = 0.0
    doubt: float = -math.inf
    more_doubt: float = 0.0
    usual: Mapping[str, float] = {}

    def heat(self, distance: Floats | float) -> Floats:
        return np.asarray(np.exp(self.flat + self.flatter * (np.asarray(distance) - MIDDLE)))

    def share(self, distance: Floats | float) -> Floats:
        """The share of the probability that goes to the usual causes."""
        odds = self.doubt + self.more_doubt * (np.asarray(distance) - MIDDLE)
        return np.asarray(1 / (1 + np.exp(-odds)))


def distances(rows: Floats, homes: Floats) -> Floats:
    """Distance of each of `rows[m, keys]` to the nearest of `homes[n, keys]`, 0..1."""
    rarity = np.log((len(homes) + 1) / (homes.sum(0) + 1)) + 1e-9
    common = (rows * rarity) @ homes.T
    either = (rows @ rarity)[:, None] + (homes @ rarity)[None] - common
    return np.asarray((1 - common / np.maximum(either, 1e-9)).min(1))


@cache
def fitted_runs() -> tuple[tuple[str, ...], Floats]:
    """The keys and bits of the shipped runs; empty where there is no file."""
    homes = load_shipped("homes", Homes)
    return homes.keys, homes.bits() if homes.rows else np.zeros((0, 0))


def distance_from_fitted(values: Mapping[str, float]) -> float | None:
    """Distance of a run with these `values` of signs; None where no fitted runs are shipped."""
    keys, bits = fitted_runs()
    if not len(bits):
        return None
    return float(distances(np.array([[float(key in values) for key in keys]]), bits)[0])


def held_keys(values: Iterable[str]) -> list[str]:
    """The keys that describe the run; a rule that did not fire makes two runs no more similar."""
    return [key for key in values if not key.startswith(CLEAR)]
