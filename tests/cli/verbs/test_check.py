"""`traindx check -- python train.py` as a user types it."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import Done, traindx
from traindx.checks.catalogue import CHECKS
from traindx.cli.checks import Bench
from traindx.config import Config

TRAIN = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4){last})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
log = open("log.csv", "a")
for epoch in range(12):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item(), file=log, flush=True)
    torch.save(model.state_dict(), "last.pt")
"""


def script(folder: Path, last: str = "", name: str = "train.py") -> None:
    (folder / name).write_text(TRAIN.replace("{last}", last))


def check(*options: str, cwd: Path, command: tuple[str, ...] = ("train.py",)) -> Done:
    return traindx("check", *options, "--", sys.executable, *command, cwd=cwd, env={"PYTHONWARNINGS": ""})


def state(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


def found(done: Done) -> dict[str, dict[str, Any]]:
    return {c["slug"]: c for c in json.loads(done.out)["checks"]}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, dict[str, str], dict[str, str]]:
    """One whole check of a healthy script that writes files, and the folder before and after it."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("healthy")
    script(folder)
    (folder / "log.csv").write_text("mine\n")
    before = state(folder)
    done = check("-f", "json", cwd=folder)
    return done, before, state(folder)


def test_nothing_fails_on_a_healthy_script(healthy: Any) -> None:
    done, _, _ = healthy
    assert done.status == 0, done.out
    failed = {slug: c["message"] for slug, c in found(done).items() if c["status"] == "failed"}
    assert failed == {}
    assert done.err == ""


def test_no_file_of_the_user_changes(healthy: Any) -> None:
    _, before, after = healthy
    assert before == after


def test_every_check_is_there_and_has_an_end(healthy: Any) -> None:
    document = json.loads(healthy[0].out)
    assert document["schema"] == "traindx.check/1"
    assert [c["slug"] for c in document["checks"]] == [c.slug for c in CHECKS]
    assert {c["status"] for c in document["checks"]} <= {"passed", "not-run"}
    assert all(c["message"] for c in document["checks"])
    assert document["diagnosis"]["run"]["steps"] == 240, document["experiments"]
    assert not [c["message"] for c in document["checks"] if "setup:" in c["message"]]


def test_the_experiments_say_what_they_should(healthy: Any) -> None:
    checks = found(healthy[0])
    for slug in (
        "one-batch",
        "blank-inputs",
        "permuted-labels",
        "determinism",
        "samples-apart",
        "loss-mean",
        "modes-agree",
    ):
        assert checks[slug]["status"] == "passed", checks[slug]["message"]
    facts = {
        **checks["one-batch"]["facts"],
        **checks["blank-inputs"]["facts"],
        **checks["permuted-labels"]["facts"],
    }
    assert facts["one_batch_end"] < 0.1 < facts["blank_batch_end"]
    assert facts["real_end"] < facts["permuted_end"]
    assert checks["determinism"]["facts"]["repeat_difference"] == 0
    runs = json.loads(healthy[0].out)["experiments"]
    assert [e["name"] for e in runs] == [
        "first steps",
        "again",
        "one batch",
        "one blank batch",
        "permuted labels",
    ]


def test_a_second_softmax_fails_its_check(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path, ", nn.Softmax(1)")
    done = check("--only", "logits,order", cwd=tmp_path)
    assert done.status == 1
    assert "FAILED" in done.out.splitlines()[0]
    assert "1 failed, " in done.out.splitlines()[1]
    assert "expects logits and is given probabilities" in done.out
    assert "traindx explain probabilities-fed-to-cross-entropy" in done.out
    assert "double-softmax" in done.out
    assert "Environment" not in done.out


def test_other_forms(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path, name="<b>|x.py")
    (tmp_path / "out").mkdir()
    for name in ("a.md", "b.html"):
        done = check(
            "--only", "seeds", "-o", str(tmp_path / "out" / name), cwd=tmp_path, command=("<b>|x.py",)
        )
        assert (done.status, done.out) == (0, "")
        page = (tmp_path / "out" / name).read_text()
        assert "Random seeds" in page
        assert "<b>" not in page


def test_time_that_is_too_short_is_said(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path)
    done = check("--budget", "1", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "its time limit" in done.err


def test_a_script_that_fails_is_still_judged(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path)
    with open(tmp_path / "train.py", "a") as file:
        file.write("raise SystemExit(5)\n")
    done = check("--only", "seeds,loss-falls", "-f", "json", cwd=tmp_path)
    assert found(done)["loss-falls"]["status"] == "passed"
    assert json.loads(done.out)["experiments"][0]["ended"].startswith("ended with status 5")


def test_nothing_to_check_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('hello')")
    done = check(cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "nothing could be checked: the script never imported a framework" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_script_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import absent_module_of_mine")
    done = check(cwd=tmp_path)
    assert done.status == 2
    assert "ended with status 1" in done.err
    assert "absent_module_of_mine" in done.err


def test_bad_words(tmp_path: Path) -> None:
    done = check("--only", "sedes", cwd=tmp_path)
    assert done.status == 2
    assert "did you mean 'seeds'" in done.err
    done = traindx("check", cwd=tmp_path)
    assert done.status == 2
    assert "give the command to check" in done.err
    done = traindx("check", "--", "absent-program", cwd=tmp_path)
    assert done.status == 2
    assert "there is no such program" in done.err


def test_the_list_of_checks(tmp_path: Path) -> None:
    done = traindx("check", "--list", "--only", "data", cwd=tmp_path)
    assert done.status == 0
    assert [line.split()[0] for line in done.out.splitlines()] == [
        c.slug for c in CHECKS if c.group == "data"
    ]


def test_records_are_kept_where_asked(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path)
    done = check("--only", "seeds", "--out", "kept", cwd=tmp_path)
    assert done.status == 0
    assert (tmp_path / "kept" / "first-steps" / "setup.json").is_file()


def test_what_changed_or_could_not_be_protected_is_said(tmp_path: Path) -> None:
    bench = Bench(["python"], Config(), 60.0, tmp_path)
    assert bench.notes() == []
    bench.changed, bench.linked = {"b.csv", "a.csv"}, ("data/large.bin",)
    assert bench.notes() == ["files of your project changed while the checks ran: a.csv, b.csv"]
    bench.fenced = False
    assert "data/large.bin" in bench.notes()[1]


def test_a_script_may_write_where_it_is_let(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "project").mkdir()
    (tmp_path / "elsewhere").mkdir()
    script(tmp_path / "project")
    text = (tmp_path / "project" / "train.py").read_text()
    place = tmp_path / "elsewhere" / "log.csv"
    (tmp_path / "project" / "train.py").write_text(text.replace('"log.csv"', repr(str(place))))
    done = check("--only", "seeds", "--writable", str(tmp_path / "elsewhere"), cwd=tmp_path / "project")
    assert done.status == 0, done.err
    assert place.exists()
