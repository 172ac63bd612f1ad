"""The repair benchmark's scripts are what they are said to be, and its figures count what they say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks.repair.cases import CONFIG_SEED, LABELS, Case, case, cases, with_seed
from benchmarks.repair.scoring import judged, table
from traindx.causes.catalogue import catalogue

ALL = list(cases())
KNOWN = {cause.slug for cause in catalogue()}


def test_there_are_as_many_as_are_asked_for() -> None:
    kinds = Counter(one.kind for one in ALL)
    assert kinds["faulty"] >= 40
    assert kinds["double"] == 8
    assert kinds["healthy"] == 15
    assert kinds["trap"] == 4
    assert len({one.style for one in ALL if one.kind == "faulty"}) >= 12
    assert len({one.name for one in ALL}) == len(ALL)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_each_is_a_project_that_can_be_run_with_any_seed(one: Case) -> None:
    moved = with_seed(one.files, 7)
    assert moved != one.files
    for path, text in moved.items():
        if path.endswith(".py"):
            compile(text, path, "exec")
    assert (one.files != one.twin) == bool(one.causes)
    assert {cause for right in one.causes for cause in right} <= KNOWN
    assert len(one.causes) == {"faulty": 1, "double": 2}.get(one.kind, 0)
    assert one.best != one.trivial


def test_none_is_a_skeleton_of_the_gym() -> None:
    from benchmarks.gym.skeletons import SKELETONS

    bases = {one.name.partition(".")[0] for one in ALL}
    assert not bases & set(SKELETONS)


def test_seeds_in_configurations_move_too() -> None:
    assert CONFIG_SEED.sub(r"\g<1>9", "seed: 3\nother: 3\n") == "seed: 9\nother: 3\n"


def test_edited_scripts_are_enough() -> None:
    assert len(LABELS["edited"]) >= 30
    for name, _ in LABELS["edited"]:
        base, _, fault = name.partition(".")
        case("trap", name, base, [fault] if fault else [])


FAULTY = next(one for one in ALL if one.name == "digits_mlp.heavy-ball")
DOCUMENT: dict[str, Any] = {
    "verdict": "fixed",
    "applied": ["lower-momentum"],
    "trials": [
        {"fix": "clip-gradients", "verdict": "refuted"},
        {"fix": "lower-momentum", "verdict": "confirmed"},
    ],
    "diagnosis": {
        "hypotheses": [{"cause": "healthy"}, {"cause": "momentum-too-high"}, {"cause": "batch-too-small"}]
    },
}


def row(document: dict[str, Any], returned: list[float]) -> dict[str, Any]:
    found = judged(FAULTY, document, {"faulty": [0.2, 0.4], "twin": [0.9, 0.9], "returned": returned})
    seconds = {"seconds": 30.0, "plain_seconds": 10.0, "cpu": 24.0, "plain_cpu": 12.0}
    return {"kind": "faulty", "faults": 1, **seconds, **found}


def test_a_repair_is_scored_against_its_twin() -> None:
    found = row(DOCUMENT, [0.8, 0.8])
    assert found["causes_found"] == 1
    assert found["fix_confirmed"]
    assert found["closed"] == pytest.approx((0.8 - 0.3) / (0.9 - 0.3))
    assert not found["worse"]
    assert "a fix confirmed: 1 of 1" in table([found])
    assert "median 3.0x" in table([found])


def test_what_is_made_worse_is_counted() -> None:
    found = row(DOCUMENT, [0.1, 0.1])
    assert found["worse"]
    assert "made worse on unseen seeds: 1 of 1" in table([found])


def test_nothing_returned_is_the_faulty_script() -> None:
    found = row({}, [])
    assert found["closed"] == 0
    assert not found["worse"]
    assert not found["fix_confirmed"]
    assert found["causes_found"] == 0


def test_the_verdicts_for_each_cause_are_counted_and_smoothed() -> None:
    from benchmarks.repair.chances import table

    trials = [["lower-learning-rate", "confirmed", []]] * 3 + [["lower-dropout", "refuted", []]]
    both = ["lower-learning-rate + lower-dropout", "confirmed", []]
    lines = table([{"id": "a", "trials": [*trials, both]}], {"a": {"learning-rate-too-high"}}).splitlines()
    assert lines[0] == "trials of a right cause 3, of others 1"
    assert lines[1] == f"  confirmed: 3, 0 -> {(3 + 8) / 13:.3f}, {1 / 11:.3f}"
    assert lines[2] == f"  refuted: 0, 1 -> {0.8 / 13:.3f}, {(1 + 5) / 11:.3f}"
