"""Scripts of Keras as processes of their own: Keras takes its backend when it is imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import traindx

BACKENDS = [name for name in ("jax", "torch", "tensorflow") if importlib.util.find_spec(name)]
HOME = str(Path(traindx.__file__).parents[1])


def started(backend: str, script: str, folder: Path, *under: str) -> subprocess.CompletedProcess[str]:
    """A script run in a folder, plain or `under` a command."""
    (folder / "train.py").write_text(script)
    done = subprocess.run(
        [*under, sys.executable, "-W", "ignore", "train.py"],
        cwd=folder,
        env={**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": HOME, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "capture let go" not in done.stderr
    assert "capture stopped" not in done.stderr
    return done


def unchanged(backend: str, script: str, folder: Path, *options: str) -> str:
    """Record a script into `folder/run`, which prints what it prints without: what was said on stderr."""
    plain = started(backend, script, folder).stdout
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", *options, "--")
    seen = started(backend, script, folder, *run_it)
    assert plain
    assert seen.stdout.startswith(plain)
    return seen.stderr
