"""The manifest of public programs for `traindx fix`, and the figures that its rows come to."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from benchmarks.repair.foreign import HERE, Ended, Fault, Foreign, Manifest, Row, figures, printed, seeded

MANIFEST = msgspec.json.decode((HERE / "foreign.json").read_bytes(), type=Manifest)
FAULTS = [Fault("a", "p", {"x": "y"}, "rate"), Fault("b", "p", {"x": "z"}, "rate"), Fault("c", "p")]


def test_each_fault_is_of_a_program_and_of_a_kind() -> None:
    programs = {one.name: one for one in MANIFEST.programs}
    assert len(programs) == len(MANIFEST.programs)
    assert len({one.name for one in MANIFEST.faults}) == len(MANIFEST.faults)
    assert {one.program for one in MANIFEST.faults} == set(programs)
    assert sum(not one.ill for one in MANIFEST.faults) >= 20
    assert all((one.kind == "healthy") != one.ill for one in MANIFEST.faults)
    assert all(len(one.commit) == 40 for one in MANIFEST.programs)


def test_all_programs_of_a_repository_are_in_one_half_and_those_seen_before_are_developed_on() -> None:
    halves = {one.repository: one.half for one in MANIFEST.programs}
    assert set(halves.values()) == {"developed", "measured"}
    assert all(one.half == halves[one.repository] for one in MANIFEST.programs)
    assert halves["ucoskun/notes"] == halves["shirishbahirat/pytorch"] == "developed"


def row(verdict: str, scores: list[float | None], levels: Sequence[float] = ()) -> Row:
    return Row(
        verdict=verdict, patch=True, applies=True, scores=scores, levels=list(levels), seconds=9.0, plain=3.0
    )


def test_figures_count_what_they_say() -> None:
    rows = {
        "a": row("fixed", [0.9, 0.5, 0.86], [2.0, 0.1, 0.1]),
        "b": row("fixed", [0.9, 0.5, 0.4], [2.0, 0.1, 1.0]),
        "c": Row(verdict="nothing-to-fix"),
    }
    rows["a"].reloaded, rows["b"].reloaded = 0.9, 0.3
    assert rows["a"].closed == pytest.approx(0.9)
    assert [value for _, value in figures(rows, FAULTS)] == [
        "2 of 2", "1", "1", "2 of 2", "1 of 2", "1 of 2", "1 of 1", "1 of 1", "3.0",
    ]  # fmt: skip
    assert row("fixed", [0.9, 0.9, 0.95]).closed is None, "no gap to close"
    assert not Row(verdict="not-fixed").reproduces, "there is no patch"


def test_what_a_program_printed_in_whole_trials_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "records" / "2").mkdir(parents=True)
    (tmp_path / "records" / "2" / "stdout.log").write_text("step 3\naccuracy: 0.75\n", encoding="utf-8")
    entries = [
        {"schema": "traindx.trials/2"},
        {"interventions": ["lr=*10"], "seed": 0, "steps": None, "ok": True, "record": "1"},
        {"interventions": [], "seed": 0, "steps": None, "ok": True, "record": "2"},
    ]
    (tmp_path / "trials.jsonl").write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    assert printed(tmp_path, 0) == 0.75
    assert printed(tmp_path, 1) is None
    assert printed(tmp_path, 0, ["lr=*100"]) is None, "that was not tried"


@pytest.mark.skipif(sys.platform != "linux", reason="starts are bounded by a keeper, which Linux has")
def test_a_start_has_the_seed_that_it_is_given(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "draw.py").write_text(
        "import torch\nprint('drawn', torch.rand(1).item())\n", encoding="utf-8"
    )
    program = Foreign("p", "a/b", "0" * 40, ".", "draw.py", "drawing", "pytorch")
    scores = [seeded(tmp_path, program, tmp_path / "home", seed) for seed in (3, 3, 4)]
    assert isinstance(scores[0], Ended)
    assert scores[0].score == scores[1].score != scores[2].score
