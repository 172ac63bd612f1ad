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
from traindx.lab.conduct.attempts import LATE, record
from traindx.lab.conduct.experiment import conduct
from traindx.lab.conduct.warm import Warm

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
    """Final values that were found before, in a file: the twins of many faults are one script. Runs are forked from a
    Python with the script's libraries in it, which gives the same numbers (tests/lab/conduct/test_warm.py)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finals: dict[str, float | None] = {row["of"]: row["final"] for row in rows(path)}

    def final(
        self, files: Mapping[str, str], script: str, interventions: Sequence[str], warm: Warm
    ) -> float | None:
        """What a run of these ends with; it is made unless it is known."""
        content = json.dumps([sorted(files.items()), script, list(interventions)])
        of = hashlib.sha256(content.encode()).hexdigest()
        if of not in self.finals:
            self.finals[of] = trained(files, script, interventions, warm)
            note(self.path, {"of": of, "final": self.finals[of]})
        return self.finals[of]


def trained(files: Mapping[str, str], script: str, interventions: Sequence[str], warm: Warm) -> float | None:
    """What a run at full length ends with, by its own words."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        folder = laid_out(files, Path(place) / "project")
        done = conduct(
            [sys.executable, script], interventions, record=record if interventions else unrecorded,
            out=Path(place) / "record", seconds=LIMIT, folder=folder, base=environment(), threads=1, warm=warm,
        )  # fmt: skip
        return final_value(done.tail)


def unrecorded(
    out: Path, interventions: Sequence[str], steps: int | None, base: Mapping[str, str], folder: str
) -> dict[str, str]:
    """No recording, in the form that `conduct` asks for."""
    out.mkdir()
    return dict(base)


def loaded(files: Mapping[str, str], script: str) -> Warm:
    """The Python that runs of a project are forked from."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        folder = laid_out(files, Path(place) / "project")
        return Warm([sys.executable, script], folder, reserve="torch", late=LATE, base=environment())


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


def run(files: Mapping[str, str], script: str) -> Ran:
    """One plain training at its full length, started as a user starts it."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        folder = laid_out(files, Path(place) / "project")
        begun, used = time.monotonic(), cpu_seconds()
        try:
            done = subprocess.run(
                [sys.executable, script],
                cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False,
            )  # fmt: skip
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
                command,
                cwd=folder,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=FIX_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Fixed({}, FIX_LIMIT, cpu_seconds() - used, 124, "out of time", None)
        seconds, used = time.monotonic() - begun, cpu_seconds() - used
        try:
            document = json.loads(done.stdout)
        except ValueError:
            return Fixed({}, seconds, used, done.returncode, done.stderr.strip()[-300:], None)
        return Fixed(
            document, seconds, used, done.returncode, "", patched(files, document.get("patch"), folder)
        )


def patched(files: Mapping[str, str], patch: str | None, folder: Path) -> dict[str, str] | None:
    """The project under the patch of a document, applied by `patch -p1`."""
    if not patch:
        return None
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        copy = laid_out(files, Path(place) / "project")
        done = subprocess.run(["patch", "-p1", "-s", "-i", str(folder / patch)], cwd=copy, check=False)
        return (
            {path: (copy / path).read_text(encoding="utf-8") for path in files}
            if done.returncode == 0
            else None
        )
