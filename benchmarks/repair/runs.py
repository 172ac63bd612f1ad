"""Runs of a project: plain, under interventions, and through `traindx fix`."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gym.programs.program import final_value
from benchmarks.gym.runner import note, rows

LIMIT = 180  # seconds for one run at its full length
FIX_LIMIT = 2400
TRAINDX = (sys.executable, "-m", "traindx.cli.main")
HOME = Path(__file__).parents[2]


class Ran(NamedTuple):
    """The final value that a run printed (None: none), its seconds by the clock and of the processors, and its exit
    status."""

    final: float | None
    seconds: float
    cpu_seconds: float
    status: int


class Known:
    """Runs that were made before, in a file: the twins of many faults are one script."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = {row["of"]: Ran(**row["ran"]) for row in rows(path)}

    def run(self, files: Mapping[str, str], script: str, interventions: Sequence[str] = ()) -> Ran:
        """The run of these, made unless it is known."""
        content = json.dumps([sorted(files.items()), script, list(interventions)])
        of = hashlib.sha256(content.encode()).hexdigest()
        if of not in self.runs:
            self.runs[of] = run(files, script, interventions)
            note(self.path, {"of": of, "ran": self.runs[of]._asdict()})
        return self.runs[of]


def cpu_seconds() -> float:
    """Of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def laid_out(files: Mapping[str, str], folder: Path) -> Path:
    """Write a project, whose folder is the top of it."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def environment() -> dict[str, str]:
    paths = [str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0", "TRAINDX_KB": "off"}
    return {**os.environ, "OMP_NUM_THREADS": "1", **own}


def run(files: Mapping[str, str], script: str, interventions: Sequence[str] = ()) -> Ran:
    """One training at its full length, under interventions where some are given."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        folder = laid_out(files, Path(place) / "project")
        command = [sys.executable, script]
        if interventions:
            given = [word for one in interventions for word in ("--with", one)]
            command = [*TRAINDX, "run", "-q", "--propagate-exit", *given, "--", *command]
        begun, used = time.monotonic(), cpu_seconds()
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return Ran(None, LIMIT, cpu_seconds() - used, 124)
        return Ran(final_value(done.stdout), time.monotonic() - begun, cpu_seconds() - used, done.returncode)


class Fixed(NamedTuple):
    """What `traindx fix` answered: its document ({} where there is none), its seconds, exit status and last words, and
    the project with its patch (None where it has none, or it does not apply)."""

    document: dict[str, Any]
    seconds: float
    cpu_seconds: float
    status: int
    words: str
    files: dict[str, str] | None


def fix(files: Mapping[str, str], script: str, options: Sequence[str] = ()) -> Fixed:
    """`traindx fix` on a project."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        folder = laid_out(files, Path(place) / "project")
        command = [*TRAINDX, "fix", "--format", "json", *options, "--", sys.executable, script]
        begun, used = time.monotonic(), cpu_seconds()
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=FIX_LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return Fixed({}, FIX_LIMIT, cpu_seconds() - used, 124, "out of time", None)
        seconds, used = time.monotonic() - begun, cpu_seconds() - used
        try:
            document = json.loads(done.stdout)
        except ValueError:
            return Fixed({}, seconds, used, done.returncode, done.stderr.strip()[-300:], None)
        return Fixed(document, seconds, used, done.returncode, "", patched(files, document.get("patch"), folder))


def patched(files: Mapping[str, str], patch: str | None, folder: Path) -> dict[str, str] | None:
    """The project under the patch of a document, applied by `patch -p1`."""
    if not patch:
        return None
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        copy = laid_out(files, Path(place) / "project")
        done = subprocess.run(["patch", "-p1", "-s", "-i", str(folder / patch)], cwd=copy, check=False)
        return {path: (copy / path).read_text(encoding="utf-8") for path in files} if done.returncode == 0 else None
