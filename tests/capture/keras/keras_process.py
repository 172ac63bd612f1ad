"""A script with Keras in its own process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import traindx

BACKENDS = [name for name in ("jax", "torch", "tensorflow") if importlib.util.find_spec(name)]


def environment(backend: str) -> dict[str, str]:
    home = str(Path(traindx.__file__).parents[1])
    return {**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": home, "TF_CPP_MIN_LOG_LEVEL": "3"}


def started(backend: str, script: str, folder: Path, *under: str) -> str:
    """What the script printed, `under` a command or alone; capture held out to its end."""
    (folder / "train.py").write_text(script)
    done = subprocess.run(
        [*under, sys.executable, "-W", "ignore", "train.py"],
        cwd=folder,
        env=environment(backend),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1, 2), (
        done.stderr
    )  # 2: nothing was recorded, of which the script knows nothing
    assert "capture stopped" not in done.stderr + done.stdout
    return done.stdout


def unchanged(backend: str, script: str, folder: Path, *options: str) -> None:
    """Record a script into `folder/run`, which prints what it prints without."""
    plain = started(backend, script, folder)
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", *options, "--")
    assert plain
    assert started(backend, script, folder, *run_it).startswith(plain)
