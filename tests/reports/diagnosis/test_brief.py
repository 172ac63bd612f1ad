"""The sentences of the first screen: how sure it is, and where a finding is dated."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import traindx
from tests.reports.made import finding, healthy
from traindx.reports import labels
from traindx.reports.diagnosis.brief import brief
from traindx.reports.digest import digest
from traindx.vocabulary.diagnosis import Decision, EvidenceTerm, Health, Severity

PASTES = Path(__file__).parents[2] / "pastes"


@pytest.mark.parametrize(
    ("probability", "sentence"),
    [
        (0.97, "Almost certainly nothing is wrong"),
        (0.7, "Probably nothing is wrong"),
        (0.55, "Possibly nothing is wrong"),
        (0.41, "No finding points to a fault."),
        (0.2, "No finding points to a fault."),
    ],
)
def test_a_healthy_run_is_called_so_as_surely_as_it_is_known(probability: float, sentence: str) -> None:
    diagnosis, run = healthy()
    fine = msgspec.structs.replace(
        diagnosis.hypotheses[0], cause="healthy", title="Nothing is wrong", probability=probability
    )
    diagnosis = msgspec.structs.replace(diagnosis, hypotheses=(fine,))
    shown = brief(diagnosis, digest(diagnosis), run)
    assert (shown.heading, shown.cause.startswith(sentence)) == ("Assessment", True), shown.cause


@pytest.mark.parametrize("onset", [900.0, 24_800.0, 1_000_000.0, 2.25])
def test_a_finding_that_names_its_step_is_not_dated_again(onset: float) -> None:
    step = f"{onset:.0f}" if onset.is_integer() else f"{onset}"
    diagnosis, run = healthy()
    dated, undated = (
        finding("LOS004", "loss-plateaus", "medium", onset, message)
        for message in (f"train/loss has been level since step {step}", "train/loss has been level")
    )
    for said, times in ((dated, 0), (undated, 1)):
        changed = msgspec.structs.replace(diagnosis, findings=(said,))
        facts = " ".join(brief(changed, digest(changed), run).facts)
        assert facts.count("(since step") == times, facts


@pytest.mark.parametrize(("log_odds", "shown"), [(2.6, True), (0.4, False)])
def test_a_fault_without_harm_is_named_where_a_finding_shows_it(log_odds: float, shown: bool) -> None:
    diagnosis, run = healthy()
    said = finding("LOP003", "graph-detached", "low", None, "65536 parameters get no gradient")
    fine, fault = (
        msgspec.structs.replace(diagnosis.hypotheses[0], cause=cause, title=cause, probability=p, for_=terms)
        for cause, p, terms in (
            ("healthy", 0.9, ()),
            ("detached-graph", 0.09, (EvidenceTerm("graph-detached", log_odds),)),
        )
    )
    changed = msgspec.structs.replace(
        diagnosis, findings=(said,), hypotheses=(fine, fault), health="healthy"
    )
    page = brief(changed, digest(changed), run)
    assert ("The model works, although:" in page.cause) == shown
    assert any("65536" in fact for fact in page.facts) == shown


@pytest.mark.parametrize(("where", "severity", "shown"), [
    ("train.py:15", "low", True), ("train.py:15", "info", False), ("layers.0", "low", False), (None, "low", False),
])  # fmt: skip
def test_a_healthy_page_notes_a_small_fault_that_names_its_line(
    where: str | None, severity: Severity, shown: bool
) -> None:
    diagnosis, run = healthy()
    said = finding("SYS015", "graph-is-kept", severity, None, "the graph is kept in total", where=where)
    changed = msgspec.structs.replace(diagnosis, findings=(said,), health="healthy")
    assert any("kept in total" in fact for fact in brief(changed, digest(changed), run).facts) == shown


@pytest.mark.parametrize("health", ["watch", "sick", "healthy"])
def test_only_a_healthy_page_says_that_nothing_is_wrong(health: Health) -> None:
    diagnosis, run = healthy()
    fine, fault = (
        msgspec.structs.replace(diagnosis.hypotheses[0], cause=cause, title=title, probability=p)
        for cause, title, p in (("healthy", "Nothing is wrong", 0.6), ("detached-graph", "A cut", 0.08))
    )
    changed = msgspec.structs.replace(diagnosis, hypotheses=(fine, fault), health=health)
    page = brief(changed, digest(changed), run)
    assert ("nothing is wrong" in page.cause) == (health == "healthy")


@pytest.mark.parametrize(
    ("paste", "word"), [("overfits-in-eight-epochs", "WATCH"), ("validation-swings", "CANNOT TELL")]
)
def test_a_short_log_is_judged_where_a_finding_shows_the_leading_cause(paste: str, word: str) -> None:
    diagnosis = traindx.diagnose(PASTES / f"{paste}.txt").first
    assert brief(diagnosis, digest(diagnosis)).word == word


@pytest.mark.parametrize(
    ("sure", "said"), [(0.36, "inspect"), (0.5, "inspect"), (0.51, "inspect (51 % sure)")]
)
def test_advice_that_is_less_sure_than_not_has_no_figure(sure: float, said: str) -> None:
    assert labels.decision_line(Decision("inspect", "", sure)) == said
