"""When a growing run is judged again.

Judging costs about as much as reading the whole log. A log is judged when it has grown by a share of its size, and at
once when the new text mentions a failure. Otherwise it is judged as often as the share of a processor allows. So the
verdict on a run is that of `diagnose` on the log as it was at the last check. The next check comes soon enough: a
finding must last for many times as many rows as are written between two checks (`persistence`).
"""

import re

import msgspec

SHARE = 0.015  # of one processor that one run may take; looking at sizes takes some more
MOST = 0.12  # that all runs together may take
GROWTH = 1.1  # times the bytes at the last look ...
AHEAD = 0.2  # ... after which it is looked at in so much of the time that it would have to wait
# What a log says of a failure: looked for in appended bytes before anything is parsed.
URGENT = re.compile(
    rb"\bnan\b|\binf(?:inity)?\b|Traceback \(most recent call last\)|out of memory|CUDA error|Segmentation fault"
    rb"|NCCL|SIGKILL|Killed|is not finite|\"crash\"",
    re.IGNORECASE,
)


class Looks(msgspec.Struct):
    """The looks at one source. `size` in bytes, `at` and `cost` in seconds; `debt`: seconds of a processor that looks
    have taken beyond their share, as it was at the last one."""

    size: int = -1
    at: float = float("-inf")
    cost: float = 0.0
    debt: float = 0.0
    urgent: bool = False
    changed: bool = False

    def notice(self, size: int, appended: bytes) -> None:
        """The source has changed. `appended`: what is new, where that can be read cheaply."""
        self.changed = True
        self.urgent = self.urgent or URGENT.search(appended) is not None
        if size < self.size:
            self.size = -1

    def due(self, now: float, size: int, share: float = SHARE) -> bool:
        """Whether to check now, with so much of a processor. A failure is checked ahead of time, but only once: a log
        in which every line mentions one takes no more time than others."""
        if not self.changed:
            return False
        if self.size < 0:
            return True
        if size >= GROWTH * self.size and (now - self.at) * share >= AHEAD * self.cost:
            return True
        return self.owed_seconds(now, share) <= (self.cost if self.urgent else 0.0)

    def owed_seconds(self, now: float, share: float) -> float:
        return max(0.0, self.debt - share * (now - self.at))

    def begin(self, now: float, share: float = SHARE) -> None:
        self.debt, self.at = self.owed_seconds(now, share), now

    def looked(self, size: int, cost: float) -> None:
        # No more than two looks: the first one imports what judges, and would be paid for minutes among many runs.
        self.size, self.cost, self.debt = size, cost, min(self.debt + cost, 2 * cost)
        self.urgent = self.changed = False


def share_of(runs: int) -> float:
    """The share of a processor for each of so many runs."""
    return min(SHARE, MOST / max(runs, 1))
