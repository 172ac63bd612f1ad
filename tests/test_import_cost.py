"""What a command imports, counted in a fresh interpreter: start-up time without a stopwatch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from traindx.capture.store.recorder import Recorder

HEAVY = {
    "pandas",
    "scipy",
    "torch",
    "matplotlib",
    "jinja2",
    "pyarrow",
    "tensorflow",
    "sklearn",
    "rich",
    "polars",
}

PROBE = """
import sys, json
from traindx.cli.main import run
status = run(sys.argv[1:])
print("\\n" + json.dumps([status, sorted(sys.modules)]))
"""


def modules_of(*arguments: str, cwd: Path) -> tuple[int, set[str]]:
    """Exit status and the modules that were loaded when `traindx ARGUMENTS` had finished."""
    command = [sys.executable, "-c", PROBE, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=cwd, stdin=subprocess.DEVNULL
    )
    status, names = json.loads(done.stdout.splitlines()[-1])
    return status, set(names)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_the_overview_imports_next_to_nothing(arguments: list[str], tmp_path: Path) -> None:
    _, names = modules_of(*arguments, cwd=tmp_path)
    ours = {n for n in names if n.startswith("traindx")}
    assert ours <= {
        "traindx",
        "traindx.cli",
        "traindx.cli.main",
        "traindx.cli.interruptions",
        "traindx.errors",
        "traindx.version",
    }
    assert not names & (HEAVY | {"numpy", "msgspec"})


def test_diagnosing_imports_nothing_heavy(tmp_path: Path) -> None:
    steps = range(10, 1000, 10)
    history = [
        {"step": s, "epoch": s / 100, "loss": 2.3 / (1 + s / 50), "learning_rate": 1e-3} for s in steps
    ]
    log = tmp_path / "trainer_state.json"
    log.write_text(json.dumps({"log_history": history, "global_step": 990}))
    status, names = modules_of("diagnose", str(log), cwd=tmp_path)
    assert status in (0, 1)
    assert "numpy" in names
    assert not names & HEAVY
    assert not {n for n in names if n.startswith("numpy.testing") or n == "unittest"}


def test_a_record_is_read_without_pandas(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    recorder = Recorder(tmp_path / "run", budget=1 << 20)
    for step in range(1, 30):
        recorder.scalars(step, float(step), {"train/loss": 1.0 / step})
    recorder.close()
    status, names = modules_of("diagnose", str(tmp_path / "run"), cwd=tmp_path)
    assert status in (0, 1)
    assert "pyarrow" in names
    assert "pandas" not in names


def test_the_library_is_lazy(tmp_path: Path) -> None:
    probe = "import sys, traindx; dir(traindx); print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "False"
