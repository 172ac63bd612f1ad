"""`traindx fix` and `traindx investigate` as a user types them."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.process import COMMAND, LIMIT, at_terminal, environment, traindx
from tests.processes import line, started

pytest.importorskip("torch")

# Three classes in the plane; at a rate of 0.1 it is done in a hundred steps, at 40 never.
TRAIN = """
import sys, torch
torch.manual_seed(3)
centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
y = torch.randint(0, 3, (512,))
x = centres[y] + 1.2 * torch.randn(512, 2)
model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[1]))
for epoch in range(12):
    model.train()
    for rows in torch.randperm(384).split(16):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held = torch.nn.functional.cross_entropy(model(x[384:]), y[384:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {held.item():.4f}")
"""


UNKNOWN = 3  # questions on facts and symptoms that this script leaves open
QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    return folder


def digest(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def diary(folder: Path) -> list[dict[str, Any]]:
    file = folder / "trials.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()[1:]] if file.exists() else []


def keys(entries: list[dict[str, Any]]) -> list[tuple[tuple[str, ...], int | None]]:
    return [(tuple(e["interventions"]), e["seed"]) for e in entries]


def valid(document: dict[str, Any], name: str) -> None:
    schema = json.loads(
        importlib.resources.files("traindx.reports").joinpath(name).read_text(encoding="utf-8")
    )
    jsonschema.Draft202012Validator(schema).validate(document)


def test_a_healthy_script_has_nothing_to_fix_and_that_costs_one_start(tmp_path: Path) -> None:
    here = project(tmp_path / "p")
    (here / "train.py").write_text(TRAIN.replace("1.2 * torch", "0.5 * torch"))  # classes apart: surely well
    done = traindx("fix", "-f", "json", "--", sys.executable, "train.py", "0.1", cwd=here)
    assert done.status == 0, done.err
    report = json.loads(done.out)
    valid(report, "fix.schema.json")
    assert report["verdict"] == "nothing-to-fix"
    assert report["applied"] == []
    folder = next((here / "traindx-fix").iterdir())
    assert len(diary(folder)) == 1


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_and_proves_the_fix(tmp_path: Path) -> None:
    here, out = project(tmp_path / "p"), tmp_path / "proof"
    before = digest(here)
    arguments = ["fix", "--out", str(out), "-f", "json", "--", sys.executable, "train.py", "40"]
    with started([*COMMAND, *arguments], cwd=here, env=environment(), **QUIET) as process:
        while len(diary(out)) < 3 and line(process.stderr):
            continue
        process.kill()
        process.wait()
    kept = keys(diary(out))
    assert len(kept) >= 3
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=here, capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    valid(report, "fix.schema.json")
    assert report["verdict"] == "fixed", report["reason"]
    assert report["applied"] == ["lower-learning-rate"]
    assert report["after"]["mean"] < report["before"]["mean"] / 2
    assert report["trials"][0]["verdict"] == "confirmed"
    after = keys(diary(out))
    assert after[: len(kept)] == kept
    assert len(set(after)) == len(after), "a start was made twice"
    assert digest(here) == before, "the project was changed"
    for name in ("report.md", "report.html", "training_comparison.png", "optimization_recommendations.md",
                 "diagnosis.json", "environment.txt", "fix.json"):  # fmt: skip
        assert (out / name).stat().st_size > 0, name
    valid(json.loads((out / "diagnosis.json").read_text()), "diagnosis.schema.json")
    assert json.loads((out / "fix.json").read_text()) == report


@pytest.mark.slow
def test_weights_speed_and_the_test_set_are_handed_back(tmp_path: Path) -> None:
    here = tmp_path / "p"
    here.mkdir()
    ending = 'print(f"Test loss: {torch.nn.functional.cross_entropy(model(x[384:]), y[384:]).item():.4f}")\n'
    (here / "train.py").write_text(TRAIN + ending)
    done = traindx(
        "fix", "--test", "--slices", "target", "-f", "json", "--", sys.executable, "train.py", "40", cwd=here
    )
    assert done.status == 0, done.err
    report = json.loads(done.out)
    valid(report, "fix.schema.json")
    assert not report["objective"]["signal"].startswith("test/")
    (own,) = report["test"]
    assert (own["signal"], own["direction"]) == ("test/loss", "lower")
    assert own["before"]["n"] == own["after"]["n"] == 3
    assert own["after"]["mean"] < own["before"]["mean"] / 2
    assert [(s["column"], s["group"], s["measure"]) for s in report["slices"]] == [
        ("target", group, "accuracy") for group in ("0", "1", "2")
    ]
    assert sum(s["samples"] for s in report["slices"]) == 128
    kept = report["checkpoint"]
    file = here / kept["path"]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == kept["sha256"]
    assert (kept["bytes"], kept["tensors"]) == (file.stat().st_size, 4)
    assert list((here / report["folder"] / "records").glob("*/*.safetensors")) == []
    fast = report["answering"]
    assert fast["batch"] == 16
    assert 0 < fast["p50"] <= fast["p95"]
    assert 0 < fast["batch_p50"] <= fast["batch_p95"]
    assert fast["throughput"] == pytest.approx(16 / fast["batch_p50"])


@pytest.mark.slow
def test_asked_it_tries_what_is_wanted_and_believes_the_answers(tmp_path: Path) -> None:
    here, out = project(tmp_path / "p"), tmp_path / "proof"
    arguments = ["fix", "--ask", "--out", str(out), "--", sys.executable, "train.py", "3"]
    done = at_terminal(arguments, cwd=here, typed="\n" * UNKNOWN + "1\n" + "n\n" * 12)
    assert done.status == 1, done.out
    assert "Which of these can you rule out?" in done.out
    assert "and test this? (about" in done.out
    report = json.loads((out / "fix.json").read_text())
    valid(report, "fix.schema.json")
    assert report["applied"] == []
    assert report["belief"][1][0] == "without learning-rate-too-high"
    assert "learning-rate-too-high" not in report["belief"][1][1]
    assert report["reason"] == "you declined every change that was offered"
    assert any("declined" in one["why"] for one in report["untried"])
    assert len(diary(out)) == 1


@pytest.mark.parametrize(("closed", "begun"), [("<&-", 0), ("</dev/null", 0), ("<empty", 1)])
def test_asked_where_nobody_can_answer_it_says_so(tmp_path: Path, closed: str, begun: int) -> None:
    here = project(tmp_path / "p")
    (here / "empty").touch()
    asked = shlex.join(
        [*COMMAND, "fix", "--ask", "--out", str(tmp_path / "proof"), "--", sys.executable, "train.py", "40"]
    )
    done = subprocess.run(
        ["sh", "-c", f"exec {asked} {closed}"],
        cwd=here,
        env=environment(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    progress = done.stderr.decode()
    assert done.returncode == 2, progress
    assert "nobody can answer" in progress
    assert "Traceback" not in progress
    assert len(diary(tmp_path / "proof")) == begun


@pytest.mark.slow
def test_what_only_the_source_can_mend_is_tried_there_and_written_when_asked(tmp_path: Path) -> None:
    pytest.importorskip("libcst", reason="the extra `fix` is not installed")
    here = tmp_path / "p"
    here.mkdir()
    broken = TRAIN.replace("float(sys.argv[1])", "0.1").replace("        optimizer.step()\n", "")
    (here / "train.py").write_text(broken)
    done = traindx("fix", "--write", "-f", "json", "--", sys.executable, "train.py", cwd=here)
    assert done.status == 0, done.err
    report = json.loads(done.out)
    valid(report, "fix.schema.json")
    assert (report["verdict"], report["applied"]) == ("fixed", ["step-the-optimizer"])
    assert report["interventions"] == []
    assert (here / "train.py").read_text().count("optimizer.step()") == 1
    assert (here / "train.py.orig").read_text() == broken
    assert "+        optimizer.step()" in (here / report["patch"]).read_text()
    edited = (here / "train.py").read_text()
    assert (here / report["folder"] / "fixed" / "train.py").read_text() == edited
    (here / "train.py").write_text(edited + "# mine\n")
    refused = traindx("fix", "--undo", cwd=here)
    assert refused.status == 2
    assert "train.py was changed since the fix was written, so nothing was undone" in refused.err
    assert (here / "train.py").read_text() == edited + "# mine\n"
    (here / "train.py").write_text(edited)
    assert traindx("fix", "--undo", cwd=here).status == 0
    assert (here / "train.py").read_text() == broken
    assert not (here / "train.py.orig").exists()
    assert "nothing to undo" in traindx("fix", "--undo", cwd=here).err


@pytest.mark.slow
def test_a_fault_that_the_run_itself_shows_gets_its_patch_though_nothing_is_gained(tmp_path: Path) -> None:
    pytest.importorskip("libcst", reason="the extra `fix` is not installed")
    here = tmp_path / "p"
    here.mkdir()
    easy = TRAIN.replace("float(sys.argv[1])", "0.3").replace("1.2 * torch", "1.0 * torch")
    easy = easy.replace("Linear(32, 3))", "Linear(32, 3), torch.nn.Softmax(dim=1))")
    shown = "held = (model(x[384:]).argmax(1) == y[384:]).float().mean()"
    easy = easy.replace("held = torch.nn.functional.cross_entropy(model(x[384:]), y[384:])", shown)
    (here / "train.py").write_text(easy.replace("val_loss", "val_acc"))
    done = traindx("fix", "-f", "json", "--write", "--", sys.executable, "train.py", cwd=here)
    report = json.loads(done.out)
    valid(report, "fix.schema.json")
    assert (done.status, report["verdict"], report["applied"]) == (1, "not-fixed", [])
    assert "-model = torch.nn.Sequential" in report["diff"]
    assert report["diff"] == (here / report["patch"]).read_text()
    assert report["patch_basis"].startswith("Correct by the documentation of the loss")
    assert re.search(r"val/accuracy ended at [\d.]+ instead of [\d.]+ in one run", report["patch_basis"])
    assert "Softmax" in (here / "train.py").read_text(), "what is not proven is not written"
    page = (here / report["folder"] / "report.md").read_text()
    assert page.index("in one run, which may be chance") < page.index("## Fixes tried")
    subprocess.run(["git", "apply", report["patch"]], cwd=here, check=True)
    assert "Softmax" not in (here / "train.py").read_text()


@pytest.mark.slow
def test_the_whole_data_set_as_one_batch_is_split(tmp_path: Path) -> None:
    pytest.importorskip("libcst", reason="the extra `fix` is not installed")
    here = tmp_path / "p"
    here.mkdir()
    head, _, loop = TRAIN.partition("for epoch")
    loader = "DataLoader(TensorDataset(x[:384], y[:384]), batch_size=384, shuffle=True)"
    head = f"from torch.utils.data import DataLoader, TensorDataset{head}loader = {loader}\n"
    loop = loop.replace("for rows in torch.randperm(384).split(16):", "for xs, ys in loader:")
    text = head + "for epoch" + loop.replace("(model(x[rows]), y[rows])", "(model(xs), ys)")
    (here / "train.py").write_text(text.replace("float(sys.argv[1])", "0.02"))
    done = traindx("fix", "-f", "json", "--", sys.executable, "train.py", cwd=here)
    report = json.loads(done.out)
    assert (report["verdict"], report["applied"]) == ("fixed", ["change-batch-size"]), done.err
    assert report["after"]["mean"] < report["before"]["mean"] / 1.5
    assert "+loader = DataLoader" in report["diff"]


@pytest.mark.slow
def test_ctrl_c_ends_it_with_all_that_it_started(tmp_path: Path) -> None:
    here, out = project(tmp_path / "p"), tmp_path / "proof"
    arguments = ["fix", "--out", str(out), "--", sys.executable, "train.py", "40"]
    with started([*COMMAND, *arguments], cwd=here, env=environment(), **QUIET) as process:
        while len(diary(out)) < 1 and line(process.stderr):
            continue
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert b"interrupted" in said
    assert not (out / "fix.json").exists()


@pytest.mark.slow
def test_investigate_settles_the_cause_and_shows_how(tmp_path: Path) -> None:
    here = project(tmp_path / "p")
    done = traindx("investigate", "-f", "json", "--", sys.executable, "train.py", "40", cwd=here)
    assert done.status == 1, done.err
    document = json.loads(done.out)
    valid(document, "diagnosis.schema.json")
    run = document["runs"][0]
    assert run["hypotheses"][0]["cause"] == "learning-rate-too-high"
    assert run["belief"][0][0] == "as it is"
    assert len(run["belief"]) == 1 + len(run["trials"])


@pytest.mark.parametrize("verb", ["fix", "investigate"])
def test_what_cannot_work_says_so_in_one_line(tmp_path: Path, verb: str) -> None:
    gone = traindx(verb, "--", "no-such-program", cwd=tmp_path)
    assert gone.status == 2
    assert "no-such-program" in gone.err.splitlines()[-1]
    (tmp_path / "quiet.py").write_text("print('no training here')")
    quiet = traindx(verb, "--", sys.executable, "quiet.py", cwd=tmp_path)
    assert quiet.status == 2
    assert "nothing was recorded" in quiet.err
    wrong = traindx(verb, "--budget", "soon", "--", sys.executable, "quiet.py", cwd=tmp_path)
    assert wrong.status == 2
    assert "--budget soon" in wrong.err
