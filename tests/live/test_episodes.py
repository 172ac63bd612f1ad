"""Findings over time: reported once, when they have lasted; resolved by evidence only."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests import make
from tests.lookalikes import all_runs
from traindx import pipeline
from traindx.live.episodes import Episodes, State
from traindx.live.persistence import NEEDED, Persistence, persistence_kinds, persistence_words
from traindx.vocabulary.diagnosis import Finding, NotEvaluated, RunDiagnosis
from traindx.vocabulary.live import LiveEvent
from traindx.vocabulary.run import Run, series


def diagnosis(*findings: Finding, silent: tuple[str, ...] = (), action: str = "continue") -> RunDiagnosis:
    """A diagnosis of a short healthy run with its findings replaced."""
    made = pipeline.diagnose(make.run({"train/loss": np.linspace(2.0, 1.0, 30)})).first
    decision = msgspec.structs.replace(made.decision, action=action)
    unasked = tuple(NotEvaluated("X", slug, "its signal is missing") for slug in silent)
    return msgspec.structs.replace(made, findings=findings, not_evaluated=unasked, decision=decision)


def finding(slug: str = "loss-spikes-recur", severity: str = "medium", parent: str | None = None) -> Finding:
    return Finding(
        code="LOS007", slug=slug, family="LOS", severity=severity, onset_step=3.0, last_step=9.0, where=None,
        message=f"{slug} was seen", consequence_of=parent,
    )  # fmt: skip


def kinds(events: list[LiveEvent]) -> list[str]:
    return [event.kind for event in events if event.kind != "run-started"]


def updates(episodes: Episodes, *steps: tuple[int, RunDiagnosis]) -> list[LiveEvent]:
    return [event for points, seen in steps for event in episodes.update(points, seen)]


@pytest.mark.parametrize("needed", NEEDED.values(), ids=list(NEEDED))
def test_a_finding_counts_after_a_share_of_growth_and_a_number_of_points(needed: Persistence) -> None:
    first = next(now for now in range(100, 2000) if needed.met(100, now))
    assert first == max(round(100 * needed.growth), 100 + needed.points)


def test_a_rule_declares_its_persistence_and_a_critical_one_needs_none() -> None:
    kinds = persistence_kinds()
    assert [kinds[slug] for slug in ("loss-not-finite", "gradient-not-finite")] == ["at-once", "at-once"]
    assert [kinds[slug] for slug in ("loss-diverges", "loss-plateaus")] == ["turning", "slow"]
    assert (kinds["loss-spikes-recur"], kinds["optimizer-never-steps"]) == ("brief", "brief")
    assert persistence_words("slow") == "once it has persisted for 400 % more points (at least 300)"


def test_a_finding_is_reported_once_and_only_when_it_has_lasted() -> None:
    episodes = Episodes()
    seen = diagnosis(finding())
    assert kinds(updates(episodes, (100, seen), (101, seen), (114, seen))) == []
    (event,) = updates(episodes, (115, seen))
    assert (event.kind, event.episode, event.text) == ("finding", "1", "loss-spikes-recur was seen")
    assert kinds(updates(episodes, (116, seen), (500, seen), (501, seen))) == []


def test_one_look_without_it_starts_the_wait_anew() -> None:
    episodes, seen, clear = Episodes(), diagnosis(finding()), diagnosis()
    assert kinds(updates(episodes, (100, seen), (110, clear), (116, seen), (130, seen))) == []
    assert kinds(updates(episodes, (134, seen))) == ["finding"]


def test_a_value_that_is_not_finite_is_reported_at_once() -> None:
    assert kinds(updates(Episodes(), (5, diagnosis(finding("loss-not-finite", "critical"))))) == ["finding"]


def test_a_finding_is_resolved_by_new_points_and_not_by_silence() -> None:
    episodes, seen, clear = Episodes(), diagnosis(finding()), diagnosis()
    silent = diagnosis(silent=("loss-spikes-recur",))
    assert kinds(updates(episodes, (100, seen), (120, seen))) == ["finding"]
    assert kinds(updates(episodes, (200, silent), (900, silent))) == []  # its rule could not be asked
    assert kinds(updates(episodes, (901, clear), (901, clear))) == []  # no new point
    assert kinds(updates(episodes, (1100, clear))) == ["resolved"]
    assert kinds(updates(episodes, (1200, clear))) == []


def test_a_second_episode_has_another_name() -> None:
    episodes, seen, clear = Episodes(), diagnosis(finding()), diagnosis()
    events = updates(
        episodes, (100, seen), (120, seen), (130, clear), (160, clear), (200, seen), (240, seen)
    )
    assert [(event.kind, event.episode) for event in events if event.episode] == [
        ("finding", "1"), ("resolved", "1"), ("finding", "2"),
    ]  # fmt: skip


def test_it_is_reported_again_when_it_gets_worse_for_good() -> None:
    episodes, mild, grave = Episodes(), diagnosis(finding()), diagnosis(finding(severity="critical"))
    assert kinds(updates(episodes, (100, mild), (120, mild))) == ["finding"]
    assert kinds(updates(episodes, (121, grave), (122, mild), (130, grave), (140, grave))) == []
    assert kinds(updates(episodes, (150, grave), (160, grave))) == ["escalated"]


def test_a_consequence_of_what_was_reported_is_no_news() -> None:
    episodes = Episodes()
    both = diagnosis(
        finding("loss-not-finite", "critical"), finding("gradient-norm-spikes", parent="loss-not-finite")
    )
    assert kinds(updates(episodes, (10, both), (100, both), (1000, both))) == ["finding"]


def test_notes_are_not_reported() -> None:
    noted = diagnosis(finding(severity="low"))
    assert kinds(updates(Episodes(), (100, noted), (900, noted))) == []


def test_the_advice_to_stop_needs_a_finding_that_was_reported() -> None:
    episodes, alone = Episodes(), diagnosis(action="stop")
    assert kinds(updates(episodes, (100, alone), (900, alone))) == []
    both = diagnosis(finding(), action="stop")
    assert kinds(updates(episodes, (901, both), (1100, both))) == ["finding", "decision"]
    assert kinds(updates(episodes, (1101, both))) == []


def test_a_restart_from_the_kept_state_repeats_nothing() -> None:
    episodes, seen = Episodes(), diagnosis(finding())
    assert kinds(updates(episodes, (100, seen), (120, seen))) == ["finding"]
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(episodes.state), type=State)
    assert updates(Episodes(kept), (121, seen), (400, seen)) == []


def prefixes(run: Run) -> list[Run]:
    """The run after each of its points, as far as 200; then after each hundredth of its length."""
    longest = max(run.series.values(), key=len)
    places = sorted({*range(2, min(len(longest), 200)), *np.linspace(200, len(longest), 100).astype(int)})
    out = []
    for end in longest.steps[[place - 1 for place in places if place <= len(longest)]]:
        short = {
            name: series(s.steps[: (n := int(np.searchsorted(s.steps, end, side="right")))], s.values[:n])
            for name, s in run.series.items()
        }
        out.append(msgspec.structs.replace(run, series={name: s for name, s in short.items() if len(s)}))
    return out


@pytest.mark.parametrize("name", sorted(all_runs()))
def test_no_healthy_shape_alarms_at_any_prefix(name: str) -> None:
    episodes = Episodes()
    events = [
        e
        for run in prefixes(all_runs()[name])
        for e in episodes.update(run.points, pipeline.diagnose(run).first)
    ]
    severe = [e.text for e in events if e.finding is not None and e.finding.severity in ("critical", "high")]
    stops = [e.text for e in events if e.decision is not None and e.decision.action == "stop"]
    assert severe == stops == []


def test_a_loss_that_breaks_is_reported_before_the_run_is_over() -> None:
    rng = np.random.default_rng(0)
    fall = 2.0 * np.exp(-np.arange(100) / 30) + 0.3 + 0.02 * rng.standard_normal(100)
    rise = np.minimum(fall[-1] * np.exp(np.arange(200) / 40), 9.0)
    run = make.run({"train/loss": np.concatenate([fall, rise])})
    episodes = Episodes()
    events = [
        e for short in prefixes(run) for e in episodes.update(short.points, pipeline.diagnose(short).first)
    ]
    first = next(e for e in events if e.finding is not None and e.finding.slug == "loss-diverges")
    assert first.step is not None
    assert 100 < first.step < 200
    assert [e.decision.action for e in events if e.decision is not None] == ["stop"]


@pytest.mark.parametrize(("step", "ends"), [(29.0, ["run-ended"]), (12.0, [])])
def test_a_run_that_was_stopped_has_ended_unless_it_goes_on(step: float, ends: list[str]) -> None:
    event = {"kind": "stopped", "step": step, "place": "", "message": "interrupted by Ctrl-C"}
    made = diagnosis()
    info = msgspec.structs.replace(made.run, events=(event,), complete=False)
    stopped = msgspec.structs.replace(made, run=info)
    assert made.run.last_step == 29.0
    assert kinds(updates(Episodes(), (30, stopped), (30, stopped))) == ends
