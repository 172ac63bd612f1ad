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
from traindx.lab.conduct.attempts import attempt
from traindx.lab.conduct.journal import Journal
from traindx.lab.repair.bench import Arm, Bench
from traindx.lab.repair.investigate import settle_causes
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


NEVER_CLEARED = """
import torch
torch.manual_seed(0)
x = torch.randn(256, 4)
y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(12):
    for i in range(0, 192, 16):
        loss = torch.nn.functional.cross_entropy(model(x[i:i + 16]), y[i:i + 16])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(f"epoch {epoch} val_loss {torch.nn.functional.cross_entropy(model(x[192:]), y[192:]):.4f}")
"""
CLEARED = NEVER_CLEARED.replace(
    "        loss.backward", "        optimizer.zero_grad()\n        loss.backward"
)


@pytest.mark.parametrize(("script", "first", "starts"), [(NEVER_CLEARED, "missing-zero-grad", 2),
                                                         (CLEARED, "healthy", 0)])  # fmt: skip
def test_the_suspect_of_a_run_that_looks_healthy_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, first: str, starts: int
) -> None:
    (tmp_path / "train.py").write_text(script)
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "train.py"]
    assert traindx("run", "--out", "record", "--", *command, cwd=tmp_path).status in (0, 1)
    found = believing(
        pipeline.diagnose(pipeline.read_capture("record")), healthy=0.9, missing_zero_grad=0.1
    ).document.runs[0]
    (run,) = pipeline.read_capture("record")
    ran = Arm((), None, run, True, 1.0)
    (tmp_path / "starts").mkdir()
    bench = Bench(command, attempt, Journal(tmp_path / "starts", {"of": "test"}), budget=600, jobs=1)
    after = settle_causes(bench, ran, found).diagnosis
    assert after.hypotheses[0].cause == first
    assert {h.cause: h.probability for h in after.hypotheses}["healthy"] <= 0.9 + 1e-9
    with_change = [arm for arm in bench.known.values() if arm.interventions]
    assert len(with_change) == starts  # none where the record shows that there is nothing to change


def test_a_changed_run_is_not_settled(tmp_path: Path) -> None:
    done = traindx("run", "--settle", "60", "--with", "lr=1.0", "--", sys.executable, "x.py", cwd=tmp_path)
    assert done.status == 2
    assert "--with" in done.err
