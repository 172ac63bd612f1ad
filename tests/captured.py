"""Real trainings as they were recorded: the traces of tests/logs/captured (made by capture_traces.py there)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from traindx.vocabulary.run import Event, Panel, Run, frozen_array, series
from traindx.vocabulary.setup import Setup

FOLDER = Path(__file__).parent / "logs" / "captured"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
HEALTHY = tuple(name for name in NAMES if name.startswith("healthy"))


@cache
def captured(name: str) -> Run:
    """The trace of one case as a run."""
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    built = {
        n: series(steps, np.array(values, dtype=np.float64))
        for n, (steps, values) in found["series"].items()
    }
    panels = {
        n: Panel(frozen_array(steps), tuple(modules), frozen_array(np.array(values, dtype=np.float64)))
        for n, (steps, modules, values) in found["panels"].items()
    }
    return Run(
        id=name,
        source=name,
        format="traindx",
        framework="torch",
        series=built,
        originals={n: n for n in built},
        panels=panels,
        events=tuple(Event(kind, message, step, code=code) for kind, message, step, code in found["events"]),
        setup=Setup().with_facts(found["facts"], "capture"),
    )


def with_facts(name: str, **facts: object) -> Run:
    """The trace of one case with some facts replaced."""
    run = captured(name)
    return msgspec.structs.replace(run, setup=run.setup.with_facts(facts, "test"))  # type: ignore[arg-type]


def several(*names: str) -> dict[str, Run]:
    return {name.replace("_", " "): captured(name) for name in names}


def healthy(*, extra: tuple[str, ...] = ()) -> dict[str, Run]:
    """Trainings in which nothing is wrong, and `extra`."""
    return several(*HEALTHY, *extra)


def untimed(run: Run) -> Run:
    """The run without what a busy machine has a hand in: times and memory."""
    kept = {
        n: s for n, s in run.series.items() if not n.startswith(("time/", "throughput", "mem/", "util/"))
    }
    return msgspec.structs.replace(run, series=kept)
