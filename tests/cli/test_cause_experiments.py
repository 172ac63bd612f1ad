"""`traindx run --settle`: experiments when the run is over, with real starts of a real script."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from tests.cli.process import traindx
from tests.cli.verbs.test_fix import project
from traindx import pipeline
from traindx.capture.launch.command import Ended
from traindx.cli.cause_experiments import SETTLED, Settling
from traindx.vocabulary.diagnosis import Hypothesis

pytest.importorskip("torch")


def believing(found: pipeline.Diagnosis, **shares: float) -> pipeline.Diagnosis:
    """The diagnosis with another belief."""
    belief = tuple(Hypothesis(cause=c.replace("_", "-"), title=c, probability=p) for c, p in shares.items())
    first = msgspec.structs.replace(found.first, hypotheses=belief)
    return pipeline.Diagnosis(msgspec.structs.replace(found.document, runs=(first,)), found.runs)


def test_an_open_cause_is_settled_by_experiments_and_a_likely_one_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = project(tmp_path / "p")
    monkeypatch.chdir(here)
    command = [sys.executable, "train.py", "40"]
    assert traindx("run", "--out", "record", "--", *command, cwd=here).status == 1
    found = pipeline.diagnose(pipeline.read_capture("record"))
    ended = Ended(0, 0, 1.0)

    sure = believing(found, learning_rate_too_high=SETTLED, healthy=1 - SETTLED)
    assert Settling(command, None, 600).after(sure, ended, quiet=True) == (sure, "")

    doubtful = believing(found, learning_rate_too_low=0.5, learning_rate_too_high=0.4, healthy=0.1)
    after, way = Settling(command, None, 600).after(doubtful, ended, quiet=True)
    assert after.first.hypotheses[0].cause == "learning-rate-too-high"
    tried = [(list(t["interventions"]), t["verdict"]) for t in after.first.trials]
    assert (["lr=*0.1"], "confirmed") in tried
    assert "How the probabilities changed" in way
    (journal,) = here.glob("traindx-investigate/*/trials.jsonl")
    starts = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert all(s["ok"] for s in starts)
    # the run that was there is the first arm: its seed is not started again without a change
    assert len([s for s in starts if not s["interventions"]]) == 1


def test_a_changed_run_is_not_settled(tmp_path: Path) -> None:
    done = traindx("run", "--settle", "60", "--with", "lr=1.0", "--", sys.executable, "x.py", cwd=tmp_path)
    assert done.status == 2
    assert "--with" in done.err
