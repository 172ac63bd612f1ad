"""`traindx find-lr` as a user types it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, Done, environment, traindx
from tests.processes import started

# Gradient descent on a parabola of curvature 20: it diverges above 0.1. It writes wherever it can.
TRAIN = """
import os, sys, torch
torch.manual_seed(0)
q, _ = torch.linalg.qr(torch.randn(64, 4))
x, y = q * (64 * 10) ** 0.5, torch.randn(64, 1)
model = torch.nn.Linear(4, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
here = os.path.dirname(os.path.abspath(sys.argv[0]))
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        torch.save(model.state_dict(), "weights.pt")
        open(os.path.join(here, "log.txt"), "a").write(f"{step} {loss.item()}\\n")
"""
NOISE = """
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5000):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(torch.randn(8, 1) + 0 * model(torch.randn(8, 4)), torch.randn(8, 1))
    loss.backward()
    optimizer.step()
"""


def project(folder: Path, script: str = TRAIN) -> Path:
    """A folder with a script and the weights of an earlier run."""
    folder.mkdir()
    (folder / "train.py").write_text(script)
    (folder / "weights.pt").write_bytes(b"weights of a long run")
    (folder / "log.txt").write_text("of a long run\n")
    return folder


def state(folder: Path) -> dict[str, tuple[str, int]]:
    files = (p for p in folder.rglob("*") if p.is_file())
    return {
        str(p.relative_to(folder)): (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns)
        for p in files
    }


def find_lr(*options: str, cwd: Path, given: tuple[str, ...] = ("1000",)) -> Done:
    temporary = cwd.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    command = ("--", sys.executable, "train.py", *given)
    done = traindx(
        "find-lr", *options, *command, cwd=cwd, env={"PYTHONWARNINGS": "", "TMPDIR": str(temporary)}
    )
    assert list(temporary.iterdir()) == []  # nothing remains
    return done


def test_a_rate_that_theory_knows(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = project(tmp_path / "project")
    before = state(folder)
    done = find_lr("-f", "json", "--figures", str(tmp_path / "pictures"), cwd=folder)
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert 0.002 < found["suggested"] < 0.1
    assert found["low"] <= found["suggested"] <= found["high"]
    assert found["safe"] < 0.1
    assert found["optimizer"] == "sgd"
    assert [s["seed"] for s in found["sweeps"]] == [0, 1]
    assert found["sweeps"][0]["rates"][0] == pytest.approx(1e-7)
    assert found["sweeps"][0]["losses"] != found["sweeps"][1]["losses"]
    assert state(folder) == before
    assert (tmp_path / "pictures" / "learning_rate.png").exists()
    assert done.err.count("seed ") == 2


def test_no_suggestion_where_there_is_only_noise(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = project(tmp_path / "project", NOISE)
    done = find_lr("--seeds", "0", "--steps", "60", cwd=folder)
    assert done.status == 1
    assert "No suggestion: at no learning rate does the loss fall by more than its noise" in " ".join(
        done.out.split()
    )
    assert "in 180 steps" in done.err


def test_too_short_a_script(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = find_lr("-q", cwd=project(tmp_path / "project"), given=("20",))
    assert (done.status, done.out) == (2, "")
    assert "a sweep needs 30" in done.err


def test_nothing_to_sweep(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "print('no training here')")
    done = find_lr(cwd=folder)
    assert (done.status, done.out) == (2, "")
    assert "the script never imported a framework" in done.err
    done = find_lr(cwd=project(tmp_path / "other", "raise ValueError('broken')"))
    assert done.status == 2
    assert "ValueError: broken" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--low", "1", "--high", "0.1"), "rates must be positive"),
        (("--seeds", "0,0"), "distinct integers"),
        (("--seeds", "x"), "distinct integers"),
        (("--steps", "10"), "--steps"),
        (("-f", "html"), "html"),
        (("-o", "report.html"), "no HTML form"),
    ],
)
def test_bad_options(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    done = find_lr(*options, cwd=project(tmp_path / "project"))
    assert (done.status, done.out) == (2, "")
    assert words in done.err


def test_no_such_program(tmp_path: Path) -> None:
    done = traindx("find-lr", "--", "absent-program", cwd=tmp_path)
    assert done.status == 2
    assert "there is no such program" in done.err


def test_interrupted(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", "")
    (tmp_path / "tmp").mkdir()
    os.mkfifo(tmp_path / "begun")
    (folder / "train.py").write_text(
        f"import signal; open({str(tmp_path / 'begun')!r}, 'w').close(); signal.pause()"
    )
    command = [*COMMAND, "find-lr", "--writable", str(tmp_path / "begun"), "--", sys.executable, "train.py"]
    env = environment(TMPDIR=str(tmp_path / "tmp"))
    with started(command, cwd=folder, env=env, stderr=subprocess.PIPE) as process:
        (tmp_path / "begun").read_text()  # until the script has opened and closed it
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.decode().strip() == "traindx: interrupted"
    assert list((tmp_path / "tmp").iterdir()) == []
