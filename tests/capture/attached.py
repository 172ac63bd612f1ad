"""For processes of tests: a training under interventions, attached as `traindx run` attaches."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from traindx.capture.experiment.ending import ExperimentStopped
from traindx.capture.launch.attach import Process, StopRun


def attached(
    framework: Any, number: object, train: Callable[[], dict[str, Any]], *specs: str
) -> dict[str, Any]:
    """What `train` gives under these interventions, why it was stopped, and the facts of its record, which is in the
    folder `number` below the first argument of the command line."""
    out = Path(sys.argv[1]) / str(number)
    out.mkdir()
    process = Process({"out": str(out), "folder": str(out), "with": list(specs)})
    process.watch = SimpleNamespace(wanted={}, last=[])
    framework.attach(process)
    printed: dict[str, Any] = {}
    try:
        printed = train()
    except ExperimentStopped:
        lines = (out / ".launch").read_text().splitlines()
        printed["stopped"] = next(json.loads(line)["why"] for line in lines if "why" in line)
    except StopRun:
        printed["ended"] = True
    session = process.session
    process.end()
    if session is None:  # nothing was recorded, and nothing is ended but by the process's own end
        for end in process.ends:
            end()
    facts = {} if session is None else json.loads((out / "setup.json").read_text())["facts"]
    return {**printed, "setup": json.dumps(facts)}
