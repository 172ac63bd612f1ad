"""A script of the gym, really run: needs torch and scikit-learn."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from benchmarks.gym.faults import catalogue as faults
from benchmarks.gym.plan import clean, job
from benchmarks.gym.runner import run_all
from benchmarks.gym.settings import SETTINGS

wine = next(r for r in SETTINGS if r.setting == "wine-mlp-adam")
fault = next(f for f in faults.catalogue() if f.name == "no-step")
broken = replace(wine, spoil="raise ValueError('no data')")
jobs = clean(wine, 0)
jobs += [job("g", jobs[0].group, fault.change(wine, 1), fault, 1, 0, seed) for seed in (0, 1)]
jobs += [job("broken", jobs[0].group, broken, fault, 1, 0, 0)]
run_all(jobs, Path(sys.argv[1]))
"""

SYSTEMS = """
import sys
from dataclasses import replace
from pathlib import Path
from benchmarks.gym.faults import catalogue as faults
from benchmarks.gym.plan import clean, job
from benchmarks.gym.ranks import RANKED
from benchmarks.gym.runner import run_all
from benchmarks.gym.settings import SETTINGS

known = {f.name: f for f in faults.catalogue()}
two = replace(RANKED[0], epochs=6)
jobs = clean(two, 0)[:1]
for name, base in (("own-weights", two), ("long-sample", SETTINGS[0])):
    fault = known[name]
    jobs.append(job(name, jobs[0].group, fault.change(base, 0.6), fault, 0.6, 0, 0))
run_all(jobs, Path(sys.argv[1]))
"""


def run(folder: Path, program: str = PROGRAM) -> str:
    """In its own process: the runner forks, and pytest's own threads must not be forked with it."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], cwd=ROOT, capture_output=True, check=True
    )
    return done.stderr.decode()


def test_two_processes_and_memory_that_runs_out(tmp_path: Path) -> None:
    from benchmarks.gym.captured import RECORD
    from benchmarks.gym.runner import rows
    from traindx import pipeline

    run(tmp_path, SYSTEMS)
    leaders = {}
    for row in rows(tmp_path / "journal.jsonl"):
        (found,) = pipeline.read_capture(tmp_path / "runs" / row["id"] / RECORD)
        leaders[row["fault"]] = (row["status"], pipeline.diagnose(found).first.hypotheses[0].cause)
    assert leaders == {
        None: (0, "healthy"),
        "own-weights": (0, "rank-desync"),
        "long-sample": (1, "out-of-memory"),
    }


def test_runs_are_made_judged_and_not_made_again(tmp_path: Path) -> None:
    from benchmarks.gym.runner import rows
    from benchmarks.gym.scoring import labels

    assert "5 done, 0 left" in run(tmp_path)
    made = labels.labelled(rows(tmp_path / "journal.jsonl"))
    assert [row["verdict"] for row in made] == ["healthy", "healthy", "hurts", "hurts", "failed"]
    assert all((tmp_path / row["log"]).stat().st_size for row in made[:4])
    assert (tmp_path / "runs" / "broken.s0" / "stderr.log").read_text().endswith("ValueError: no data\n")
    assert run(tmp_path) == ""
    with (tmp_path / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps({"id": "cut off"})[:7])
    assert len(rows(tmp_path / "journal.jsonl")) == 5
