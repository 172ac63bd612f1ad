from __future__ import annotations

import msgspec
import pytest

from tests.captured import captured, with_facts
from traindx import pipeline, rules
from traindx.checks.catalogue import AGAIN, BLANK, CHECKS, FIRST, ONE_BATCH, PERMUTED
from traindx.checks.judge import results, select_checks
from traindx.checks.plan import LEAST_SECONDS, limit, plan_starts, steps_for
from traindx.errors import ConfigError
from traindx.vocabulary.check import CheckResult
from traindx.vocabulary.diagnosis import Severity
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

KNOWN = {rule.slug for rule in rules.catalogue()}


def judged(
    run: Run, severity: Severity = "medium", reasons: dict[str, str] | None = None, asked: set[str] = KNOWN
) -> dict[str, CheckResult]:
    diagnosis = pipeline.diagnose(run)
    found = results(
        CHECKS, diagnosis.first, diagnosis.runs[0].setup, reasons or {}, asked=asked, severity=severity
    )
    return {result.slug: result for result in found}


def test_checks_speak_of_rules_that_exist() -> None:
    assert [slug for check in CHECKS for slug in check.rules if slug not in KNOWN] == []
    slugs = [check.slug for check in CHECKS]
    assert len(slugs) == len(set(slugs))
    every = [slug for check in CHECKS for slug in check.rules]
    assert len(every) == len(set(every)), "one rule, one check"


def test_every_new_rule_is_asked_by_a_check() -> None:
    asked = {slug for check in CHECKS for slug in check.rules}
    families = {r.slug for r in rules.catalogue() if r.family == "ENV"}
    assert families <= asked
    needs_check = {
        r.slug for r in rules.catalogue() if "(measured by `traindx check`)" in " ".join(r.page.split())
    }
    assert needs_check
    assert needs_check <= asked


@pytest.mark.parametrize(
    ("case", "failed"),
    [
        ("double_softmax", "logits"),
        ("never_cleared", "zero-grad"),
        ("detached", "gradient-flow"),
        ("sorted", "order"),
        ("overlap", "overlap"),
        ("broadcast", "loss-function"),
        ("nan_input", "inputs-finite"),
    ],
)
def test_a_fault_fails_its_check(case: str, failed: str) -> None:
    assert judged(captured(case))[failed].status == "failed"


@pytest.mark.parametrize(
    "case", ["healthy", "healthy_adam", "healthy_dropout", "healthy_norm", "healthy_frozen_base"]
)
def test_nothing_fails_on_healthy_runs(case: str) -> None:
    found = judged(captured(case))
    assert {slug: r.message for slug, r in found.items() if r.status == "failed"} == {}
    assert found["loss-falls"].status == "passed"


def test_what_was_not_tried_is_not_run_and_says_why() -> None:
    found = judged(
        captured("healthy"), reasons={ONE_BATCH: "the time was used up", BLANK: "the time was used up"}
    )
    assert (found["one-batch"].status, found["one-batch"].message) == ("not-run", "the time was used up")
    assert found["disk"].status == "not-run"
    assert "setup:" not in found["disk"].message


def test_a_probe_says_itself_why_it_found_nothing() -> None:
    found = judged(with_facts("healthy", leak_not_checked="the inputs relate samples to each other"))
    assert found["samples-apart"].message == "the inputs relate samples to each other"


def test_a_finding_below_the_severity_is_a_remark() -> None:
    run = with_facts("healthy", seeds_set="none", repeat_difference=0.2, repeat_steps=100)
    found = judged(run)["seeds"]
    assert (found.status, found.severity) == ("passed", "low")
    assert "sets no random seed" in found.message
    assert judged(run, severity="low")["seeds"].status == "failed"


def test_rules_that_were_left_out_make_no_check_pass() -> None:
    found = judged(captured("double_softmax"), asked=KNOWN - {"probabilities-fed-to-cross-entropy"})
    assert found["order"].status == "passed"
    left = results(CHECKS, pipeline.diagnose(captured("healthy")).first, Setup(), {}, asked=set())
    assert {r.status for r in left if r.rules or r.slug != "latency"} == {"not-run"}


def test_without_a_record_nothing_is_run() -> None:
    found = results(CHECKS, None, Setup(), {FIRST: "the script never imported torch"}, asked=KNOWN)
    assert {(r.status, r.message) for r in found} == {("not-run", "the script never imported torch")}


def test_results_are_json() -> None:
    for result in judged(captured("detached")).values():
        assert msgspec.json.decode(msgspec.json.encode(result))["slug"] == result.slug


def test_checks_are_chosen_by_slug_and_group() -> None:
    assert {c.group for c in select_checks(["data"], [])} == {"data"}
    assert [c.slug for c in select_checks(["order", "seeds"], ["seeds"])] == ["order"]
    assert len(select_checks([], ["environment"])) == sum(c.group != "environment" for c in CHECKS)
    with pytest.raises(ConfigError, match="ordr"):
        select_checks(["ordr"], [])


def test_only_experiments_that_are_needed_are_planned() -> None:
    assert [p.name for p in plan_starts(CHECKS)] == [FIRST, AGAIN, ONE_BATCH, BLANK, PERMUTED]
    assert [p.name for p in plan_starts(select_checks(["data"], []))] == [FIRST]
    assert [p.name for p in plan_starts(select_checks(["determinism"], []))] == [FIRST, AGAIN]
    assert [p.name for p in plan_starts(select_checks(["blank-inputs"], []))] == [FIRST, ONE_BATCH, BLANK]
    assert [p.name for p in plan_starts(select_checks(["permuted-labels"], []))] == [
        FIRST,
        ONE_BATCH,
        PERMUTED,
    ]


def test_time_is_shared_and_never_overdrawn() -> None:
    first, *rest = plan_starts(CHECKS)
    assert 0 < limit(first, 5, 120, 120, None) < 120
    for waiting, left in ((4, 80.0), (3, 40.0), (1, 9.0)):
        for experiment in rest:
            given = limit(experiment, waiting, left, 120, 30.0)
            assert given == 0 or LEAST_SECONDS <= given <= left
    assert limit(rest[0], 4, 5.0, 120, 30.0) == 0


def test_no_more_steps_than_the_script_makes() -> None:
    experiment = plan_starts(CHECKS)[1]
    assert steps_for(experiment, 40, True) == 40
    assert steps_for(experiment, 300, False) == experiment.steps
    assert steps_for(experiment, 0, True) == experiment.steps
