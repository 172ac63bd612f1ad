"""The loop that docs/library.md shows, executed; and what it says about alarms and about the record."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
LIMIT = 120


def shown() -> str:
    blocks = re.findall(
        r"^```py\n(.*?)^```", (ROOT / "docs" / "library.md").read_text(encoding="utf-8"), re.S | re.M
    )
    assert len(blocks) == 1
    return str(blocks[0])


def ran(code: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    given = command or ("-c", code)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *given], capture_output=True, text=True, cwd=folder, timeout=LIMIT, env=env
    )  # fmt: skip


def test_the_loop_runs_and_leaves_a_store_that_the_verbs_read(tmp_path: Path) -> None:
    done = ran(shown(), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(("healthy", "watch"))
    for verb in ("gradients", "activations"):
        table = ran("", tmp_path, "-m", "traindx.cli.main", verb, "runs/watched")
        assert table.returncode in (0, 1), table.stderr
        assert table.stdout.startswith(f"{verb.capitalize()} by module of")


def test_an_alarm_that_raises_stops_the_training(tmp_path: Path) -> None:
    code = (
        shown()
        .replace("lr=0.1", "lr=1e9")
        .replace("        print(finding.sev", "        raise SystemExit(finding.sev")
    )
    code = code.replace("finding.severity, finding.slug, finding.message", "finding.slug")
    done = ran(code.replace("if watch.why_stop", "print(step)\n        if watch.why_stop"), tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr.strip()
    assert done.stdout.splitlines()[-1] == "98"  # the step whose optimizer step is the hundredth never ended
