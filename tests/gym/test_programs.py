"""The programs by many hands: every edit applies and parses; a few programs are really run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.gym.programs import outcome
from benchmarks.gym.programs.edits import all_edits
from benchmarks.gym.programs.manifest import PROGRAMS
from benchmarks.gym.programs.program import (
    BASES,
    FOUND,
    Edit,
    final_value,
    found,
    reseeded,
    source_of,
    split,
)
from traindx.causes.catalogue import catalogue

ROOT = Path(__file__).parents[2]
CAUSES = {cause.slug for cause in catalogue()}
# A second device, a second process: no edit of a program adds these.
ELSEWHERE = {
    "device-fallback", "straggler-rank", "rank-desync", "unbalanced-loss-terms", "unbalanced-opponents",
    "unstable-bootstrapping",
}  # fmt: skip


def test_every_program_is_listed_and_shares_nothing() -> None:
    stems = {path.stem for path in BASES.glob("*.py")}
    assert stems == set(PROGRAMS)
    assert len(stems) >= 60
    for name in stems:
        imported = {
            node.module or ""
            for node in ast.walk(ast.parse(source_of(name)))
            if isinstance(node, ast.ImportFrom)
        }
        imported |= {
            a.name
            for n in ast.walk(ast.parse(source_of(name)))
            if isinstance(n, ast.Import)
            for a in n.names
        }
        assert not {module.split(".")[0] for module in imported} & {"benchmarks", "traindx", *stems}, name
        assert "traindx" not in source_of(name)
        assert "final" in source_of(name).lower()


def test_every_edit_applies_and_parses() -> None:
    edits = all_edits()
    for edit in edits:
        source = source_of(edit.base)
        assert edit.applied(source) != source or edit.outside
        ast.parse(edit.applied(source))
        assert {edit.cause, *edit.also, *edit.second} <= CAUSES, edit.name
        assert (edit.severity == "lookalike") == (edit.cause == "healthy")
    names = Counter((edit.base, edit.name) for edit in edits)
    assert [name for name, times in names.items() if times > 1] == []


def test_every_program_has_faults_and_every_cause_has_programs() -> None:
    edits = [edit for edit in all_edits() if edit.cause != "healthy"]
    few = {name: n for name in PROGRAMS if (n := sum(edit.base == name for edit in edits)) < 4}
    assert few == {}
    made = {
        cause: {edit.base for edit in edits if edit.cause == cause}
        for cause in CAUSES - ELSEWHERE - {"healthy"}
    }
    for cause, bases in made.items():
        need = "edit two programs in benchmarks/gym/programs/edits, or add it to ELSEWHERE in tests/gym/test_programs.py"
        assert len(bases) >= 2, f"{cause} is made in {len(bases)} programs: {need}"
    assert sum(bool(edit.second) for edit in edits) >= 10


def test_an_edit_whose_text_is_gone_or_twice_there_is_an_error() -> None:
    edit = Edit("digits_mlp", "x", "wrong-loss", "clear", (("a = 1", "a = 2"),))
    assert edit.applied("a = 1\n") == "a = 2\n"
    for source in ("a = 3\n", "a = 1\na = 1\n"):
        with pytest.raises(ValueError, match=r"digits_mlp.x: [02] times"):
            edit.applied(source)


def test_seeds_move_in_every_program() -> None:
    for name in PROGRAMS:
        assert reseeded(source_of(name), 0) == source_of(name)
        assert reseeded(source_of(name), 1) != source_of(name), name


def test_both_halves_have_programs_and_found_ones() -> None:
    halves = Counter(split(name) for name in PROGRAMS)
    assert min(halves["fit"], halves["held"]) >= len(PROGRAMS) // 3
    programs = found()
    assert {program.script for program in programs} == {path.name for path in FOUND.glob("*.py")}
    assert len(programs) >= 20
    halves = Counter(program.split for program in programs)
    assert min(halves.values()) >= len(programs) // 3
    for program in programs:
        ast.parse(program.source)
        assert set(program.causes) <= CAUSES
        assert program.after


@pytest.mark.parametrize(("printed", "value"), [
    ("epoch 1 loss 3\nfinal accuracy: 0.98\n", 0.98),
    ("Final validation accuracy: 98.74%\n", 98.74),
    ("| final | val ppl 2.212\n", 2.212),
    ("final nll: -1.1381\n", -1.1381),
    ("final retrieval@1 0.9175\n", 0.9175),
    ("final error 1.5e-03\n", 0.0015),
    ("epoch 1 loss 3\n", None),
])  # fmt: skip
def test_the_last_number_of_the_last_line(printed: str, value: float | None) -> None:
    assert final_value(printed) == value


def test_skill_has_a_direction_and_is_nothing_for_what_is_no_number() -> None:
    assert PROGRAMS["digits_mlp"].skill(1.0) == 1.0
    assert PROGRAMS["digits_mlp"].skill(0.1) == 0.0
    assert PROGRAMS["movie_factors"].skill(1.0) == 0.0
    assert PROGRAMS["movie_factors"].skill(0.33) == 1.0
    assert PROGRAMS["movie_factors"].skill(float("nan")) == 0.0
    assert PROGRAMS["movie_factors"].skill(float("inf")) == 0.0


def row(
    group: str, skill: float, fault: str | None = None, harm_in: str | None = None, lm: float | None = None
) -> dict[str, object]:
    """A run; of a language model with its loss `lm`."""
    twin = "a.clean" if fault else ""
    return {"group": group, "twin": twin, "fault": fault, "skill": skill, "harm_in": harm_in, "severity": None,
            "cause": "wrong-loss", "also": ("double-softmax",), "second": (), "task": "lm" if lm else "classification",
            "final": lm or skill}  # fmt: skip


def test_harm_is_measured_against_the_twins() -> None:
    clean = [row("a.clean", 0.9), row("a.clean", 0.92)]
    cases = [row("a.x", 0.3, "x", "model"), row("a.y", 0.89, "y", "model"), row("a.z", 1.0, "z", "report")]
    said = {r["group"]: (r["verdict"], r["causes"]) for r in outcome.labelled([*clean, *cases])}
    assert said["a.clean"] == ("healthy", ["healthy"])
    assert said["a.x"] == ("hurts", ["wrong-loss", "double-softmax"])
    assert said["a.y"] == ("harmless", ["healthy", "wrong-loss", "double-softmax"])
    assert said["a.z"][0] == "hurts"  # reports more of its model than there is
    assert outcome.labelled([row("a.clean", 0.1)])[0]["verdict"] == "twin-failed"


@pytest.mark.parametrize(("loss", "verdict"), [(0.2, "hurts"), (1.9, "harmless")])
def test_a_language_model_that_is_too_good_is_seen_by_its_loss(loss: float, verdict: str) -> None:
    twins = [row("a.clean", 0.9, lm=2.0), row("a.clean", 0.9, lm=2.05)]
    made = outcome.labelled([*twins, row("a.sees", 0.95, "sees", "report", loss)])
    assert made[-1]["verdict"] == verdict


RUN = """
import sys
from pathlib import Path
from benchmarks.gym.programs.runner import found_jobs, jobs, run_all

chosen = {"wine_numpy_batches.clean.s0", "wine_numpy_batches.misaligned.s0", "quality_as_number.grades-as-odds.s0",
          "quality_as_number.clean.s0", "found.xor_hardly_moves"}
todo = [job for job in [*jobs(("wine_numpy_batches", "quality_as_number"), 1), *found_jobs()] if job.id in chosen]
run_all(todo, Path(sys.argv[1]))
"""


def test_programs_are_run_recorded_and_labelled(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    from benchmarks.gym.captured import RECORD
    from benchmarks.gym.runner import rows
    from traindx import pipeline

    subprocess.run([sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, capture_output=True, check=True)
    made = {r["id"]: r for r in outcome.labelled(rows(tmp_path / "journal.jsonl"))}
    assert {name: r["verdict"] for name, r in made.items()} == {
        "wine_numpy_batches.clean.s0": "healthy",
        "wine_numpy_batches.misaligned.s0": "hurts",
        "quality_as_number.clean.s0": "healthy",
        "quality_as_number.grades-as-odds.s0": "hurts",
        "found.xor_hardly_moves": "hurts",
    }
    plain = subprocess.run(
        [sys.executable, str(BASES / "wine_numpy_batches.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert final_value(plain.stdout) == made["wine_numpy_batches.clean.s0"]["final"]
    for name in made:
        (run,) = pipeline.read_capture(tmp_path / "runs" / name / RECORD)
        assert len(run.series["train/loss"]) > 20
