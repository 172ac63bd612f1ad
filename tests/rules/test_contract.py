"""What every rule keeps: over the whole catalogue, on the samples in tests/samples.

A sample file has `fires()` and `stays_quiet()`. It may have `EXCEPTIONS`, a dict from a check's name
("rescaled", "relabelled", "halved"), or from "check: case", to the reason why the verdict may change there.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from types import ModuleType

import pytest

from tests.rules import variants
from tests.rules.vocabulary import SLUGS
from traindx.features.shared import Features
from traindx.rules import catalogue, judge_one
from traindx.vocabulary.diagnosis import SEVERITIES
from traindx.vocabulary.rule import Evidence, Outcome, Rule, Threshold
from traindx.vocabulary.run import Run

SECTIONS = ("What it sees", "Why it matters", "When it is wrong", "What to try", "Sources")
STRUCTURAL = (0, 1, 2, 3, 4, 0.5)  # counts, indices, halves: not thresholds

RULES = [r for r in catalogue() if r.check.__module__.startswith("traindx.rules.")]
every_rule = pytest.mark.parametrize("rule", RULES, ids=[r.slug for r in RULES])


@cache
def sample_module(rule: Rule) -> ModuleType:
    name = "tests.samples." + rule.slug.replace("-", "_")
    file = name.replace(".", "/") + ".py"
    assert importlib.util.find_spec(name), f"{rule.slug}: add {file} with fires() and stays_quiet()"
    return importlib.import_module(name)


@cache
def cases(rule: Rule) -> tuple[tuple[str, Run, bool], ...]:
    """(name, run, whether the rule must fire) of every sample."""
    module = sample_module(rule)
    fires, quiet = module.fires(), module.stays_quiet()
    assert fires, f"{rule.slug} has no samples that fire"
    assert quiet, f"{rule.slug} has no samples that stay quiet"
    return (*((n, r, True) for n, r in fires.items()), *((n, r, False) for n, r in quiet.items()))


def judged(rule: Rule, run: Run) -> Outcome:
    """The outcome, with numpy's warnings (division by zero, empty mean ...) taken as failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return judge_one(rule, run, Features(run), {})


def excepted(rule: Rule, check: str, case: str) -> bool:
    exceptions = getattr(sample_module(rule), "EXCEPTIONS", {})
    return check in exceptions or f"{check}: {case}" in exceptions


@every_rule
def test_fires_on_its_samples(rule: Rule) -> None:
    outcomes = {name: judged(rule, run) for name, run, fires in cases(rule) if fires}
    wrong = {n: f"{o.status} {o.reason}".strip() for n, o in outcomes.items() if o.status != "fired"}
    assert not wrong


@every_rule
def test_stays_clear_on_near_misses(rule: Rule) -> None:
    outcomes = {name: judged(rule, run) for name, run, fires in cases(rule) if not fires}
    wrong = {n: f"{o.status} {o.reason} {o.evidence}" for n, o in outcomes.items() if o.status != "clear"}
    assert not wrong


@every_rule
def test_evidence_is_complete(rule: Rule) -> None:
    for name, run, fires in cases(rule):
        for evidence in judged(rule, run).evidence if fires else ():
            assert said(rule, evidence).strip(), name
            assert "{" not in said(rule, evidence), name
            assert 0.0 < evidence.strength <= 1.0, name
            assert evidence.points, f"{name}: no numbers for the finding"
            assert evidence.severity is None or evidence.severity in SEVERITIES, name
            for step in (evidence.onset, evidence.last, *(p.step for p in evidence.points)):
                assert step is None or math.isfinite(step), name
            if evidence.onset is not None and run.first_step is not None and run.last_step is not None:
                assert run.first_step <= evidence.onset <= run.last_step, name


def said(rule: Rule, evidence: Evidence) -> str:
    """The finding's sentence: `message` of the evidence, or the rule's, with the values filled in."""
    return (evidence.message or rule.message).format(**evidence.values)


@every_rule
def test_says_so_when_a_needed_signal_is_missing(rule: Rule) -> None:
    assert rule.needs, "a rule names the signals that it needs"
    for need in rule.needs:
        for name, run, _ in cases(rule):
            bare = variants.without(run, need)
            if bare is None:
                continue
            outcome = judged(rule, bare)
            assert outcome.status == "not-evaluated", f"{name} without {need}"
            assert outcome.reason, f"{name} without {need}"


@every_rule
def test_survives_every_prefix(rule: Rule) -> None:
    for name, run, _ in cases(rule):
        for prefix in variants.prefixes(run):
            outcome = judged(rule, prefix)
            assert outcome.status != "not-evaluated" or outcome.reason, name
            for evidence in outcome.evidence:
                assert said(rule, evidence).strip(), name


@every_rule
def test_survives_a_loss_of_exactly_zero(rule: Rule) -> None:
    for name, run, _ in cases(rule):
        for changed in variants.zeroed(run):
            for evidence in judged(rule, changed).evidence:
                assert said(rule, evidence).strip(), name


@every_rule
def test_answers_twice_the_same(rule: Rule) -> None:
    for name, run, _ in cases(rule):
        first, second = judged(rule, run), judged(rule, run)
        features = Features(run)
        third = [judge_one(rule, run, features, {}) for _ in range(2)][1]
        assert repr(first.evidence) == repr(second.evidence) == repr(third.evidence), name


@every_rule
@pytest.mark.parametrize(
    "change", [variants.rescaled, variants.relabelled, variants.halved], ids=lambda c: c.__name__
)
def test_verdict_does_not_hang_on_units(rule: Rule, change: Callable[[Run], Run]) -> None:
    wrong = {}
    for name, run, fires in cases(rule):
        if excepted(rule, change.__name__, name):
            continue
        outcome = judged(rule, change(run))
        if change is variants.halved and outcome.status == "not-evaluated":
            continue  # half of the points can be too few to judge; saying so is no other verdict
        if (outcome.status == "fired") != fires:
            wrong[name] = f"{outcome.status} {outcome.reason}"
    assert not wrong


@every_rule
def test_exceptions_are_few_and_reasoned(rule: Rule) -> None:
    exceptions = getattr(sample_module(rule), "EXCEPTIONS", {})
    names = {name for name, _, _ in cases(rule)}
    for key, reason in exceptions.items():
        check, _, case = key.partition(": ")
        assert check in ("rescaled", "relabelled", "halved"), key
        assert not case or case in names, key
        assert len(reason.split()) >= 3, f"{key}: say why"
    single = [k for k in exceptions if k.startswith("halved: ")]
    assert len(single) <= len(names) / 2, "most samples keep their verdict when every second row is dropped"


@every_rule
def test_thresholds_are_declared(rule: Rule) -> None:
    for parameter in list(inspect.signature(rule.check).parameters.values())[2:]:
        default = parameter.default
        assert isinstance(default, Threshold), f"{parameter.name} is no threshold()"
        assert parameter.kind is parameter.KEYWORD_ONLY, parameter.name
        assert default.unit.strip(), parameter.name
        assert default.source.strip(), parameter.name


@every_rule
def test_thresholds_can_be_overridden(rule: Rule) -> None:
    _, run, _ = cases(rule)[0]
    plain = {name: float(value) for name, value in rule.thresholds.items()}
    outcome = judge_one(rule, run, Features(run), plain)
    assert repr(outcome.evidence) == repr(judged(rule, run).evidence)


@every_rule
def test_no_number_hides_in_a_body(rule: Rule) -> None:
    module = importlib.import_module(rule.check.__module__)
    hidden = list(hidden_numbers(inspect.getsource(module)))
    assert not hidden, "make these thresholds, or give them a name: " + ", ".join(hidden)


def hidden_numbers(source: str) -> Iterator[str]:
    """Numbers in bodies of functions, other than the structural ones and format widths."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        for child in (c for statement in node.body for c in ast.walk(statement)):
            number = isinstance(child, ast.Constant) and type(child.value) in (int, float)
            if number and child.value not in STRUCTURAL:
                yield f"{child.value} (line {child.lineno})"


def test_a_hidden_number_is_found() -> None:
    assert list(hidden_numbers("def f(x, *, a=7.0):\n    return x[-1] * 0.5 > 17\n")) == ["17 (line 2)"]


@every_rule
def test_page_has_every_section(rule: Rule) -> None:
    title, *parts = re.split(r"^## (.+)\n", rule.page, flags=re.MULTILINE)
    assert tuple(parts[::2]) == SECTIONS, "write each section as `## Heading`, in this order"
    for section, text in zip(SECTIONS, parts[1::2], strict=True):
        assert len(text.split()) >= 3, f"{section} says nothing"
    assert title.strip(), "begin with one sentence"
    colons = re.findall(rf"^(?:{'|'.join(SECTIONS)}):", rule.page, flags=re.MULTILINE)
    assert not colons, f"a heading is a line of its own: {colons}"


@every_rule
def test_slug_is_the_name_of_its_file(rule: Rule) -> None:
    assert rule.check.__module__.split(".")[-2:] == [rule.family.lower(), rule.slug.replace("-", "_")]
    assert set(rule.follows) <= {known.slug for known in RULES} | {
        slug for slugs in SLUGS.values() for slug in slugs
    }
    assert rule.slug not in rule.follows


def test_codes_are_unique_and_released_rules_are_kept_in_order() -> None:
    codes = [r.code for r in RULES]
    for before, after in pairwise(RULES):
        why = f"{after.slug}: {after.code} is taken or out of order; in its file, take a number above those of its family"
        assert before.code < after.code, why
    assert codes == sorted(codes)
    for family, slugs in SLUGS.items():
        assert tuple(r.slug for r in RULES if r.family == family and r.slug in slugs) == slugs, family
