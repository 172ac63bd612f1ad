"""From diagnoses of a growing run to events: each finding is reported once, when it has lasted.

A diagnosis answers for one moment. Asked again and again, even a good test fires on a healthy run sooner or later,
so a finding must hold at every look while the run grows by a share of its length before it is reported. How
often this alarms on healthy runs, and how late it is on sick ones, is measured by `python -m benchmarks.streams`.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from traindx.live.persistence import AT_ONCE, Persistence, is_mild, persistence_of
from traindx.vocabulary import SEVERITIES, Decision, Finding, RunDiagnosis, Severity
from traindx.vocabulary.live import EventKind, LiveEvent

RESOLVED_AFTER = Persistence(1.15, 5)  # as long as a finding must be gone before it counts as resolved
DECIDED_AFTER = Persistence(1.25, 5)  # as long as the advice to stop must hold
BROKEN = ("crash", "out-of-memory")


class Episode(msgspec.Struct, kw_only=True):
    """The life of one finding. `since` and `gone` are points of the run at which it was first seen and last missed."""

    id: str
    state: Literal["pending", "firing"]
    since: int
    finding: Finding
    severity: Severity  # the one that was reported, or that was first seen
    worse: int | None = None  # points at which it was first seen to be more severe than reported
    gone: int | None = None


class State(msgspec.Struct, kw_only=True):
    """What must survive a restart so that no event is repeated."""

    started: bool = False
    ended: bool = False
    action: str = "continue"
    other_action: str = ""  # a decision that differs from the one reported ...
    other_since: int = 0  # ... and the points at which it was first made
    count: int = 0  # episodes so far
    episodes: dict[str, Episode] = {}


def rank(severity: Severity) -> int:
    return SEVERITIES.index(severity)


def key_of(finding: Finding) -> str:
    """What makes two findings the same one: its rule and where it was seen."""
    signal = finding.where or (finding.evidence[0].signal if finding.evidence else "")
    return f"{finding.slug} {signal}".strip()


class Episodes:
    """The findings of one run over time. `least` is the severity from which a finding is reported; `settled`: at once,
    for there will be one look only."""

    def __init__(
        self, state: State | None = None, least: Severity = "medium", settled: bool = False
    ) -> None:
        self.state = state or State()
        self.least = rank(least)
        self.settled, self.over = settled, False

    def update(self, points: int, diagnosis: RunDiagnosis) -> Iterator[LiveEvent]:
        """The events that a diagnosis of the run at `points` points brings. The same diagnosis again brings none."""
        if not self.state.started:
            self.state.started, self.state.ended = True, False
            yield event("run-started", diagnosis, f"Started ({diagnosis.run.format}).")
        self.over = is_over(diagnosis)
        yield from self.findings(points, diagnosis)
        yield from self.decide(points, diagnosis)
        yield from self.end(diagnosis)

    def needed(self, finding: Finding) -> Persistence:
        """How long a finding must last; of a run that is over nothing more will come."""
        return AT_ONCE if self.settled or self.over else persistence_of(finding)

    def findings(self, points: int, diagnosis: RunDiagnosis) -> Iterator[LiveEvent]:
        seen: dict[str, Finding] = {}
        for finding in diagnosis.findings:
            if rank(finding.severity) <= self.least:
                seen.setdefault(key_of(finding), finding)
        for key, finding in seen.items():
            yield from self.hold(points, diagnosis, key, finding)
        silent = {unasked.slug for unasked in diagnosis.not_evaluated}
        for key in [key for key in self.state.episodes if key not in seen]:
            yield from self.miss(points, diagnosis, key, silent)

    def hold(self, points: int, diagnosis: RunDiagnosis, key: str, finding: Finding) -> Iterator[LiveEvent]:
        """The finding is there at this look."""
        episode = self.state.episodes.get(key)
        if episode is None:
            self.state.count += 1
            episode = Episode(
                id=f"{self.state.count}",
                state="pending",
                since=points,
                finding=finding,
                severity=finding.severity,
            )
            self.state.episodes[key] = episode
        episode.gone, episode.finding = None, finding
        needed = self.needed(finding)
        if episode.state == "pending":
            reported = any(other.finding.slug == finding.consequence_of for other in self.firing())
            if needed.met(episode.since, points) and not reported:
                episode.state, episode.severity = "firing", finding.severity
                yield event("finding", diagnosis, finding.message, episode)
            return
        if rank(finding.severity) >= rank(episode.severity):
            episode.worse = None
            return
        episode.worse = points if episode.worse is None else episode.worse
        if needed.met(episode.worse, points):
            episode.severity, episode.worse = finding.severity, None
            yield event("escalated", diagnosis, finding.message, episode)

    def miss(self, points: int, diagnosis: RunDiagnosis, key: str, silent: set[str]) -> Iterator[LiveEvent]:
        """The finding is not there at this look. Where its rule could not be asked, that says nothing."""
        episode = self.state.episodes[key]
        if episode.state == "pending":
            del self.state.episodes[key]
            return
        # A resumed training may have a new record: it proves nothing before it is as long as the old one was.
        if episode.finding.slug in silent or points < episode.since:
            return
        episode.gone = points if episode.gone is None else episode.gone
        if RESOLVED_AFTER.met(episode.gone, points):
            del self.state.episodes[key]
            yield event("resolved", diagnosis, f"Resolved: {episode.finding.message}", episode)

    def firing(self) -> list[Episode]:
        return [episode for episode in self.state.episodes.values() if episode.state == "firing"]

    def decide(self, points: int, diagnosis: RunDiagnosis) -> Iterator[LiveEvent]:
        decision, state = diagnosis.decision, self.state
        if decision.action == state.action:
            state.other_action = ""
            return
        if decision.action != state.other_action:
            state.other_action, state.other_since = decision.action, points
        supported = decision.action == "continue" or any(not is_mild(e.finding) for e in self.firing())
        at_once = any(self.needed(episode.finding).growth <= 1 for episode in self.firing())
        if supported and (at_once or self.over or DECIDED_AFTER.met(state.other_since, points)):
            state.action, state.other_action = decision.action, ""
            yield decision_event(diagnosis)

    def points_to_next_answer(self, points: int) -> int | None:
        """Points of the run at which a finding that is pending can be reported or another decision made; None after
        the advice to stop and at the end."""
        if self.over or self.state.action == "stop":
            return None
        other = self.state.other_since if self.state.other_action else points
        pending = [e for e in self.state.episodes.values() if e.state == "pending"]
        return min([DECIDED_AFTER.end(other), *(self.needed(e.finding).end(e.since) for e in pending)])

    def end(self, diagnosis: RunDiagnosis) -> Iterator[LiveEvent]:
        stopped = stop_events(diagnosis)
        if self.state.ended or not (self.over or stopped):
            return
        self.state.ended = True
        broken = break_events(diagnosis)
        if broken:
            yield event("run-failed", diagnosis, f"The run failed: {broken[-1]['message']}")
        elif stopped:
            yield event("run-ended", diagnosis, f"The run was stopped: {stopped[-1]['message']}")
        else:
            yield event("run-ended", diagnosis, "The run has ended.")


def break_events(diagnosis: RunDiagnosis) -> list[dict[str, object]]:
    """What ended a run before its time."""
    return [e for e in diagnosis.run.events if e["kind"] in BROKEN]


def stop_events(diagnosis: RunDiagnosis) -> list[dict[str, object]]:
    """What ended a run on purpose, after its last row: a run that was resumed goes on."""
    last = diagnosis.run.last_step or 0.0
    stopped = [e for e in diagnosis.run.events if e["kind"] == "stopped"]
    return [e for e in stopped if isinstance(e["step"], int | float) and e["step"] >= last]


def is_over(diagnosis: RunDiagnosis) -> bool:
    return bool(diagnosis.run.complete or break_events(diagnosis))


def decision_event(diagnosis: RunDiagnosis) -> LiveEvent:
    decision = diagnosis.decision
    text = f"{decision.action.capitalize()}: {decision.reason}"
    return event("decision", diagnosis, text, decision=decision)


def event(
    kind: EventKind,
    diagnosis: RunDiagnosis,
    text: str,
    episode: Episode | None = None,
    decision: Decision | None = None,
) -> LiveEvent:
    return LiveEvent(
        run=diagnosis.run.id,
        source=diagnosis.run.source,
        kind=kind,
        episode=episode.id if episode else None,
        step=diagnosis.run.last_step,
        health=diagnosis.health,
        text=text,
        finding=episode.finding if episode else None,
        decision=decision,
    )
