"""What a measurement gives: facts, the rows behind them, and why others are lacking."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from traindx.vocabulary.setup import Fact

Ints = NDArray[np.int64]
MOST_ROWS = 100_000


class Measured(msgspec.Struct):
    """`facts` by the names that rules read; `rows`: by the slug of the rule that reports them, worst first;
    `reasons`: why facts are missing."""

    facts: dict[str, Fact] = {}
    rows: dict[str, Ints] = {}
    reasons: dict[str, str] = {}

    def add(self, other: Measured) -> None:
        self.facts |= other.facts
        self.rows |= {k: v[:MOST_ROWS] for k, v in other.rows.items() if len(v)}
        self.reasons |= other.reasons
