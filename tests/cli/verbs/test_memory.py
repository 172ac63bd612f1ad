"""Running out of memory for real, and options that make no sense."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, LIMIT, environment, traindx

SCRIPT = """
import resource, torch
torch.manual_seed(0); torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10))
optimizer = torch.optim.Adam(model.parameters())
for step in range(40):
    if step == 30:
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28), resource.RLIM_INFINITY))
    x = torch.randn(64 if step < 35 else 60_000, 512)
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_run_that_ends_out_of_memory_shows_the_arithmetic(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run(
        [*COMMAND, "run", "-f", "json", "--out", "here", "--", sys.executable, "train.py"], cwd=tmp_path,
        env=environment(PYTHONWARNINGS=""), capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    (run,) = json.loads(done.stdout)["runs"]
    assert run["findings"][0]["slug"] == "out-of-memory"
    parameters = 512 * 2048 + 2048 + 2048 * 10 + 10
    needs = {n["kind"].split()[0]: n["bytes"] for n in run["memory"]["needs"]}
    assert needs["weights"] == needs["gradients"] == 4 * parameters
    assert needs["optimizer"] == pytest.approx(8 * parameters, rel=1e-3)
    asked = 60_000 * 512 * 4
    assert run["memory"]["needed"] > asked
    assert "Where the memory of a step goes" in traindx("diagnose", "here", cwd=tmp_path).out


def test_what_is_no_size_is_refused(tmp_path: Path) -> None:
    done = traindx("memory", "--limit", "much", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.status == 2
    assert "write 24GB or 16GiB" in done.err


def test_a_script_without_a_training(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")
    done = traindx("memory", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.status == 2
    assert "nothing was measured" in done.err
    assert not list(tmp_path.glob("traindx-runs/*"))
