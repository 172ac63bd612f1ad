"""Run the training scripts of tests/scripts as users do, with and without capture."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.capture.launch import warm
from tests.capture.launch.styles import STYLES, Style
from tests.capture.launch.styles_frameworks import FRAMEWORKS
from traindx import pipeline
from traindx.vocabulary.run import Run

SCRIPTS = Path(__file__).parents[2] / "scripts"
PYTHON = sys.executable
PLAIN = Style("", {})
LIMIT = 180  # seconds after which a process that hangs is a failure
GLOO_ABORTS = b"terminate called without an active exception"  # a thread of C++ that was not waited for
LAUNCH = """
import os, sys
from pathlib import Path
from traindx.capture.launch.command import Request, launch
from traindx.capture.launch.stages import note_end, why_nothing
folder, steps = Path(sys.argv[1]), int(sys.argv[2]) or None
command, curvature = sys.argv[4:], bool(int(sys.argv[3]))
ended = launch(command, Request(folder, steps, curvature=curvature))
note_end(folder, ended)
(folder / "why.txt").write_text(why_nothing(folder, command, ended))
sys.exit(ended.shell_status)
"""


class Launched(NamedTuple):
    """One script that was run: `folder` its working folder, the record in `folder/run`."""

    folder: Path
    status: int
    out: bytes
    err: bytes

    def truth(self, name: str = "truth.json") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / name).read_text())
        return found

    def run(self) -> Run:
        (found,) = pipeline.read_capture(self.folder / "run")
        return found

    def why(self) -> str:
        return (self.folder / "run" / "why.txt").read_text()


def command_of(name: str) -> list[str]:
    if name == "package_training":
        return [PYTHON, "-m", "package_training", "16"]
    style = {**STYLES, **FRAMEWORKS}.get(name, PLAIN)
    folder = SCRIPTS / "frameworks" if name in FRAMEWORKS else SCRIPTS
    script = str(folder / f"{style.script or name}.py")
    if style.start == "torchrun":
        free = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # a port that nobody has
        return [PYTHON, "-m", "torch.distributed.run", "--nproc_per_node", "2", *free, script]
    if style.start == "accelerate":
        alone = [
            "--num_processes",
            "1",
            "--num_machines",
            "1",
            "--mixed_precision",
            "no",
            "--dynamo_backend",
            "no",
        ]
        return [PYTHON, "-m", "accelerate.commands.launch", "--cpu", *alone, script]
    return [PYTHON, script]


def environment(name: str) -> dict[str, str]:
    """One thread: the scripts are small, and sums then have one order."""
    clean = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TRAINDX_CAPTURE", "PYTHONWARNINGS")
    }
    own = {"PYTHONPATH": str(SCRIPTS)} if name == "package_training" else {}
    return {**clean, "OMP_NUM_THREADS": "1", **own}


def launched(
    name: str, folder: Path, *, steps: int = 0, command: list[str] | None = None, curvature: bool = False
) -> Launched:
    """The script under capture."""
    folder.mkdir(parents=True, exist_ok=True)
    start = [PYTHON, "-c", LAUNCH, str(folder / "run"), str(steps), str(int(curvature))]
    return finished([*start, *(command or command_of(name))], folder, environment(name))


def alone(name: str, folder: Path, *, command: list[str] | None = None) -> Launched:
    """The script as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    started = command or command_of(name)
    if started[:1] == [PYTHON] and started[1].endswith(".py") and len(started) == 2:
        return Launched(folder, *warm.run(folder / started[1], folder, environment(name), None))
    done = finished(started, folder, environment(name))
    if GLOO_ABORTS in done.err:  # seen once of some thousand starts of torchrun, without traindx
        return finished(started, folder, environment(name))
    return done


def attached(script: Path, folder: Path) -> Launched:
    """A script with the capture attached, without the start of its own Python."""
    return Launched(folder, *warm.run(script, folder, environment(""), folder / "run"))


def finished(command: list[str], folder: Path, env: Mapping[str, str]) -> Launched:
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    return Launched(folder, done.returncode, done.stdout, done.stderr)
