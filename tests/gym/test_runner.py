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
from benchmarks.gym import faults
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


def run(folder: Path) -> str:
    """In a process of its own: the runner forks, and pytest's own threads must not be forked with it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], cwd=ROOT, capture_output=True, check=True)
    return done.stderr.decode()


def test_runs_are_made_judged_and_not_made_again(tmp_path: Path) -> None:
    from benchmarks.gym import labels
    from benchmarks.gym.runner import rows

    assert "5 done, 0 left" in run(tmp_path)
    made = labels.labelled(rows(tmp_path / "journal.jsonl"))
    assert [row["verdict"] for row in made] == ["healthy", "healthy", "hurts", "hurts", "failed"]
    assert all((tmp_path / row["log"]).stat().st_size for row in made[:4])
    assert (tmp_path / "runs" / "broken.s0" / "stderr.log").read_text().endswith("ValueError: no data\n")
    assert run(tmp_path) == ""
    with (tmp_path / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps({"id": "cut off"})[:7])
    assert len(rows(tmp_path / "journal.jsonl")) == 5
