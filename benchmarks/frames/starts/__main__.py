"""See the package."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import traindx
from benchmarks import PROGRAM_FILES
from traindx.errors import ReadError

SCRIPTS = PROGRAM_FILES / "frameworks"
HOME = SCRIPTS.parents[3]
# Of the scripts that any backend of Keras can run: which one does.
BACKENDS = {
    "keras_convnet": "torch", "keras_structured": "tensorflow", "keras_timeseries": "jax",
    "keras_imbalanced": "tensorflow", "keras_transformer": "jax",
    "keras_lstm": "torch", "keras_recommender": "torch", "keras_denoising": "jax",
    "keras_resume": "jax", "keras_train_on_batch": "tensorflow", "keras_mixed": "tensorflow",
    "keras_vae": "tensorflow", "keras_gan": "tensorflow", "keras_tape_loop": "tensorflow",
    "keras_jax_loop": "jax", "keras_torch_loop": "torch", "keras_torch_optimizer": "torch",
}  # fmt: skip
TRAINERS = ("hf", "lightning", "accelerate")
LIMIT = 600


class Start(NamedTuple):
    """How a script ended, and what it printed."""

    status: int
    out: str
    err: str


def environment_of(name: str) -> str:
    if BACKENDS.get(name) == "tensorflow":
        return "tensorflow"
    return "trainers" if name.startswith(TRAINERS) else "jax"


def start(python: str, script: Path, folder: Path, *under: str) -> Start:
    """Run a script in a folder of its own. Packages of the folder STARTS_FIRST stand in front of the environment's."""
    folder.mkdir()
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "OMP_NUM_THREADS": "1"}
    threads = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    backend = {"KERAS_BACKEND": BACKENDS.get(script.stem, "jax")}
    path = os.pathsep.join(filter(None, [os.environ.get("STARTS_FIRST"), str(HOME)]))
    done = subprocess.run(
        [*under, str(script)] if under else [python, "-W", "ignore", str(script)],
        cwd=folder, env={**os.environ, **quiet, **threads, **backend, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    return Start(done.returncode, done.stdout, done.stderr)


def look(script: Path, python: str) -> tuple[bool, str]:
    """Whether recording changed a script, and a line of the table."""
    under = (python, "-m", "traindx", "run", "--quiet", "--out", "run", "--", python, "-W", "ignore")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        plain, seen = start(python, script, folder / "plain"), start(python, script, folder / "seen", *under)
        said = seen.out.startswith(plain.out) and bool(plain.out)
        what = "the same" if said else "**changed**"
        if plain.status:
            what = f"**fails**: {plain.err.strip().splitlines()[-1][:100]}"
        elif not said and start(python, script, folder / "again").out != plain.out:
            what, said = "differs, as two plain runs do", True
        if "capture let go" in seen.err:
            what += "; **capture let go**"
        try:
            run = traindx.read(folder / "seen" / "run")
            found = traindx.diagnose(run).first
            told = f"{run.points} steps, {len(run.series)} series, {len(run.panels)} panels | {found.health}"
        except ReadError:
            told = f"nothing: {reason(seen)} | -"
    backend = BACKENDS.get(script.stem, "")
    return said and not plain.status, f"| {script.stem} | {backend} | {what} | {told} |"


def reason(seen: Start) -> str:
    lines = [line for line in (seen.out + seen.err).splitlines() if "traindx" in line or "recorded" in line]
    return lines[-1][:120] if lines else "no reason was said"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("scripts", nargs="*")
    asked = parser.parse_args()
    pythons = dict(one.split("=", 1) for one in asked.python)
    print("| start | backend | what it prints, and its weights | recorded | health |\n|---|---|---|---|---|")
    right = total = 0
    for script in sorted(SCRIPTS.glob("*.py")):
        if asked.scripts and script.stem not in asked.scripts:
            continue
        same, line = look(script, pythons.get(environment_of(script.stem), sys.executable))
        right, total = right + same, total + 1
        print(line, flush=True)
    print(f"\n{right} of {total} unchanged")
    return right != total


if __name__ == "__main__":
    sys.exit(main())
