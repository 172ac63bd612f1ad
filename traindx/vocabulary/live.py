"""What is reported of a run while it trains: the shape behind the JSON contract `traindx.event/1`."""

from typing import Literal

import msgspec

from traindx.vocabulary.diagnosis import SEVERITIES, Decision, Finding, ForecastPoint, Health, Severity

SCHEMA = "traindx.event/1"

EventKind = Literal[
    "run-started",
    "finding",  # one for each episode, when the finding has lasted long enough to be believed
    "escalated",  # the same finding, more severe
    "resolved",  # by evidence: its rule was evaluated on new points and is clear
    "decision",  # to stop, to inspect or to continue, where that changed
    "run-ended",
    "run-failed",
    "unreadable",
]


class Waiting(msgspec.Struct, frozen=True):
    """What it costs to wait until `until_step`: the step from which on more can be said, and after the advice to stop the
    planned end. `cost` is in the unit of `--price`; None: unknown."""

    until_step: float
    steps: float
    hours: float | None
    cost: float | None


class LiveEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `traindx watch --json`. `cursor` is opaque: given back, it yields the events after this one.
    `at` is ISO 8601 with a zone; `episode` is the same in all events of one finding's life."""

    schema: str = SCHEMA
    cursor: str = ""
    at: str = ""
    run: str
    source: str
    kind: EventKind
    episode: str | None = None
    step: float | None = None
    health: Health | None = None
    text: str
    finding: Finding | None = None
    decision: Decision | None = None
    waiting: Waiting | None = None
    forecast: ForecastPoint | None = None  # of a decision: where the loss is going, at 80 %

    def reaches(self, least: Severity) -> bool:
        """Whether this is news for somebody who asked for findings of at least this severity: such a finding, a failure
        or the advice to stop."""
        if self.kind == "run-failed" or (self.decision is not None and self.decision.action == "stop"):
            return True
        return (
            self.finding is not None and self.finding.severity in SEVERITIES[: SEVERITIES.index(least) + 1]
        )
