"""Where the time of a training step goes, as a trace shows it."""

from typing import Literal

import msgspec


class Part(msgspec.Struct, frozen=True):
    """One phase of a step: seconds of an average step, and its share of it."""

    part: str
    seconds: float
    share: float


class Operator(msgspec.Struct, frozen=True):
    """What an operator of the host, or a kernel of the accelerator, takes of an average step by itself."""

    operator: str
    on: Literal["host", "accelerator"]
    seconds: float
    share: float
    calls: float


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """`step_seconds` of an average traced step; `parts` of the host's time, which add up to it; `idle`
    seconds of it in which nothing is computed (nothing on the accelerator, where there is one); `gaps`: the
    longest of those in words."""

    steps: int
    step_seconds: float
    idle: float
    accelerator: bool
    parts: tuple[Part, ...] = ()
    operators: tuple[Operator, ...] = ()
    gaps: tuple[str, ...] = ()
