"""The plan and the scripts that it amounts to (their text; running them needs torch, see test_runner)."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from benchmarks.gym.benign import BENIGN
from benchmarks.gym.faults.catalogue import catalogue
from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.plan import VARIANTS, endless, job, jobs
from benchmarks.gym.programs.edits import all_edits
from benchmarks.gym.recipe import Log, Recipe, script
from benchmarks.gym.settings import SETTINGS, variant
from benchmarks.gym.skeletons import SKELETONS
from benchmarks.gym.styles import STYLES, TELL_CLOCK, TELL_NORM, TELL_RATE, Shown
from benchmarks.kinds.faults import FAULTS as FAULTS_OF_KINDS
from traindx.causes.catalogue import catalogue as causes, patterns

FAULTS = catalogue()


def assigned(source: str) -> set[str]:
    """Names that a script gives values to, anywhere."""
    return {
        n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_fault_changes_the_script_where_it_is_possible(fault: Fault) -> None:
    possible = 0
    for recipe in fault.settings or SETTINGS:
        for strength in fault.strengths:
            spoilt = fault.change(recipe, strength)
            if spoilt is None:
                continue
            possible += 1
            for skeleton in SKELETONS:
                faulty = script(spoilt, Log(), 0, skeleton)
                ast.parse(faulty)
                assert faulty != script(recipe, Log(), 0, skeleton)
    assert possible


def test_every_cause_is_a_word_of_the_vocabulary() -> None:
    named = {cause for fault in FAULTS for cause in (fault.cause, *fault.also)}
    assert named <= {cause.slug for cause in causes()}
    assert {r.pattern for r in BENIGN} - {None} <= {p.slug for p in patterns()}
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_every_cause_is_made_by_a_fault() -> None:
    made = {cause for fault in FAULTS for cause in (fault.cause, *fault.also, *fault.second)}
    made |= {cause for edit in all_edits() for cause in (edit.cause, *edit.also, *edit.second)}
    made |= {cause for case in FAULTS_OF_KINDS for cause in case.causes}
    for cause in causes():
        known = cause.slug in made or cause.slug in (
            "healthy",
            "device-fallback",
        )  # no gym has a second device
        assert known, f"nothing makes {cause.slug}: add a Fault of it to benchmarks/gym/faults/<family>.py"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("skeleton", SKELETONS)
def test_a_style_fits_every_kind_of_task(style: str, skeleton: str) -> None:
    shown = Shown(rate=style in TELL_RATE, norm=style in TELL_NORM, clock=style in TELL_CLOCK)
    for recipe in SETTINGS:
        source = script(recipe, STYLES[style](shown, recipe), 3, skeleton)
        used = {
            n.id
            for n in ast.walk(ast.parse(source))
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        for name in ("tick", "recent", "grad_norm", "val_loss", "val_metric", "LOG_EVERY"):
            assert name not in used or name in assigned(source), (style, name)


def test_a_longer_plan_begins_as_the_shorter_one() -> None:
    short, long = jobs(60, seed=5), jobs(200, seed=5)
    assert [j.id for j in long[:60]] == [j.id for j in short]
    assert [j.source for j in long[:60]] == [j.source for j in short]
    assert len({j.id for j in long}) == 200
    assert [j.id for j in jobs(60, seed=6)] != [j.id for j in short]


def test_twins_come_before_the_faulty_runs_and_a_third_is_clean() -> None:
    plan = jobs(600)
    seen: set[str] = set()
    for one in plan:
        assert not one.twin or one.twin in seen
        seen.add(one.group)
    assert sum(one.fault is None for one in plan) >= 200


def test_a_twin_differs_from_the_faulty_script_by_the_fault_alone() -> None:
    recipe = SETTINGS[0]
    fault = next(f for f in FAULTS if f.name == "rate-times")
    shown = script(recipe, Log(), 0).splitlines()
    spoilt = script(fault.change(recipe, 10), Log(), 0).splitlines()
    assert [(a, b) for a, b in zip(shown, spoilt, strict=True) if a != b] == [("LR = 0.1", "LR = 1")]


def test_variants_are_the_same_for_the_same_number() -> None:
    for recipe in (*SETTINGS, *BENIGN):
        assert [variant(recipe, v) for v in VARIANTS] == [variant(recipe, v) for v in VARIANTS]
        assert variant(recipe, 0) is recipe


def test_the_style_does_not_change_what_is_trained() -> None:
    recipe: Recipe = replace(SETTINGS[0], epochs=1)
    quiet, loud = Log(), STYLES["key_value"](Shown(), recipe)
    added = set(script(recipe, loud, 0).splitlines()) - set(script(recipe, quiet, 0).splitlines())
    assert all("print" in line or "LOG_EVERY" in line for line in added)


def test_what_a_fault_needs_to_be_seen_is_logged() -> None:
    for one in jobs(500):
        if one.fault:
            assert "val" not in one.fault.sees or one.shown.val
            assert "clock" not in one.fault.sees or one.shown.clock
    assert next(endless(0)).fault is None
    assert job("g", "", SETTINGS[0], None, 0.0, 0, 0).id == "g.s0"
