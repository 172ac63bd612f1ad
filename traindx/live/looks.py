"""When a growing run is judged again.

Judging costs about as much as reading the whole log. A log is judged when it has grown by a share of its size, at
once when what was appended speaks of a failure, and else as often as the share of a processor allows.
"""

from __future__ import annotations

import re

import msgspec

SHARE = 0.02  # of one processor that one run may take
MOST = 0.4  # that all runs together may take
GROWTH = 1.1  # times the bytes at the last look
# What a log says of a failure: looked for in appended bytes before anything is parsed.
URGENT = re.compile(
    rb"\bnan\b|\binf(?:inity)?\b|Traceback \(most recent call last\)|out of memory|CUDA error|Segmentation fault"
    rb"|NCCL|SIGKILL|Killed|is not finite|\"crash\"",
    re.IGNORECASE,
)


class Looks(msgspec.Struct):
    """The looks at one source. `size` in bytes, `at` and `cost` in seconds."""

    size: int = -1
    at: float = float("-inf")
    cost: float = 0.0
    urgent: bool = False
    changed: bool = False

    def notice(self, size: int, appended: bytes) -> None:
        """The source has changed. `appended`: what is new, where that can be read cheaply."""
        self.changed = True
        self.urgent = self.urgent or URGENT.search(appended) is not None
        if size < self.size:
            self.size = -1

    def due(self, now: float, size: int, crowd: float = 1.0) -> bool:
        """Whether to look now; `crowd`: how many times its share each of many runs must wait."""
        if not self.changed:
            return False
        if self.size < 0:
            return True
        waited = now - self.at
        if self.urgent:
            return waited >= self.cost  # a log that is full of NaN does not take the whole processor
        grown = size >= GROWTH * self.size
        return waited >= self.cost / SHARE * crowd * (0.2 if grown else 1.0)

    def looked(self, now: float, size: int, cost: float) -> None:
        self.at, self.size, self.cost = now, size, cost
        self.urgent = self.changed = False


def crowding(costs: list[float]) -> float:
    """How many times its own share each run must wait so that all together stay below `MOST`."""
    return max(1.0, len(costs) * SHARE / MOST)
