"""What a cause is: a declaration of what may be wrong, and how each outcome is evidence for or against.

Weights are log-odds. A key is a rule's slug ("loss-diverges"), a slug with an aspect
("loss-not-finite:early"), or a fact ("fact:half-precision"). `fired` is added, scaled by the
finding's strength, when it holds; `clear` when the rule was evaluated and did not fire. A rule
that was not evaluated adds nothing.
"""

from typing import Literal

import msgspec

CauseFamily = Literal[
    "optimization",
    "regularization",
    "model",
    "numerics",
    "data",
    "loop",
    "quantization",
    "systems",
    "nothing-wrong",
]


class Weight(msgspec.Struct, frozen=True):
    """`fired` and `clear` in log-odds; `basis` says where the number comes from."""

    fired: float
    clear: float = 0.0
    basis: str = "convention"


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """`prior` is the log-odds before any evidence; `settles` names what would decide it:
    (measurement, how to get it) pairs for the diagnosis's `next`."""

    slug: str
    title: str
    family: CauseFamily
    prior: float
    page: str
    weights: dict[str, Weight] = {}
    settles: tuple[tuple[str, str], ...] = ()


class Pattern(msgspec.Struct, frozen=True):
    """A benign shape under the cause `healthy`; shown when its rules or facts hold."""

    slug: str
    title: str
    page: str
