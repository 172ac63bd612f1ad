"""A folder of training scripts by other hands, with a labels file: runs them, and makes rows that can be scored.

`labels.json` is a list of {"script": path, "causes": [cause, ...], "log": path (optional), "pattern": (optional)};
`causes` of ["healthy"] or [] means that nothing is wrong. A script without a log is run once, where it stands, and
what it prints is kept in `<script>.log` beside it; with `log`, that file is read after the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LIMIT = 600


def labelled(folder: Path) -> list[dict[str, Any]]:
    """Rows as the gym's own; raises FileNotFoundError without a labels file."""
    listed = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    return [row_of(folder, entry) for entry in listed]


def row_of(folder: Path, entry: dict[str, Any]) -> dict[str, Any]:
    script = str(entry["script"])
    log = str(entry.get("log") or f"{script}.log")
    if not (folder / log).exists():
        execute(folder / script, folder / f"{script}.log")
    causes = list(entry.get("causes") or ["healthy"])
    healthy = causes == ["healthy"]
    return {
        "id": script, "group": script, "twin": "", "setting": script, "task": None, "seed": None, "style": None,
        "fault": None if healthy else causes[0], "cause": causes[0], "causes": causes, "strength": None,
        "pattern": entry.get("pattern"), "harm": None, "onset": entry.get("onset"), "level": None, "log": log,
        "script": script, "verdict": "healthy" if healthy else "hurts",
    }  # fmt: skip


def execute(script: Path, log: Path) -> None:
    """Run a script in its own folder with one thread; what it prints, also before an error, is the log."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as out:
        try:
            subprocess.run(
                [sys.executable, script.name], cwd=script.parent, stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT,
                env=environment, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{script}: stopped after {LIMIT} s", file=sys.stderr)
