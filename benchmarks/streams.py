"""False alarms and delay while runs are written: `python -m benchmarks.streams PATH [--rows FILE]`.

PATH holds `labels.json` and `logs/` (see `benchmarks.readings`). Each log is cut after each of its rows (after 4 % of
growth in long ones), every prefix is diagnosed, and the events that `traindx watch` would print are counted: on runs
that a practitioner calls fine, and on runs that are called sick or failed. Rules of other tools, typed again from their
documentation, are asked about the same prefixes. Halves are those of `benchmarks.readings`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from benchmarks.readings import HALVES, half_of
from traindx import pipeline
from traindx.errors import ReadError
from traindx.features.shared import Features
from traindx.live.episodes import Episodes
from traindx.vocabulary.diagnosis import SEVERITIES
from traindx.vocabulary.live import LiveEvent
from traindx.vocabulary.run import Floats, Run, Series

LEAST = 4  # points of a run that is replayed
GROWTH = 1.04  # between two looks at a long run


class Replayed(NamedTuple):
    """One log. `first`: of each tool, the share of the run at which it spoke first; missing where it never did."""

    name: str
    half: str
    fine: bool
    looks: int
    events: list[LiveEvent]
    first: dict[str, float]


def places(points: int) -> list[int]:
    """After how many points a run is looked at."""
    found, at = [], 2
    while at < points:
        found.append(at)
        at = max(at + 1, int(at * GROWTH))
    return [*found, points]


def prefix(run: Run, last: float) -> Run:
    """What the log of a run held when it had come to the step `last`."""

    def cut(series: Series) -> Series:
        n = int(np.searchsorted(series.steps, last, side="right"))
        times = None if series.times is None else series.times[:n]
        return Series(series.steps[:n], series.values[:n], times)

    short = {name: cut(series) for name, series in run.series.items()}
    events = tuple(
        e for e in run.events if (e.step is not None and e.step <= last) or e.kind in ("note", "log-suspect")
    )
    return msgspec.structs.replace(
        run, series={n: s for n, s in short.items() if len(s)}, panels={}, events=events, complete=None
    )


def replay(run: Run) -> Iterator[tuple[int, Run]]:
    longest = max(run.series.values(), key=len)
    for points in places(len(longest)):
        yield points, run if points == len(longest) else prefix(run, float(longest.steps[points - 1]))


def zscore(values: Floats) -> bool:
    """W&B automations' documented example: three standard deviations from the mean of the last 30."""
    window = values[-31:-1]
    return len(window) == 30 and abs(values[-1] - window.mean()) > 3 * window.std() > 0


def half_means(values: Floats) -> bool:
    """The rule of W&B's `diagnose_run`: the second half is at least 5 % above the first."""
    half = len(values) // 2
    return half >= 2 and values[half:].mean() > 1.05 * values[:half].mean() > 0


def early_stopping(values: Floats) -> bool:
    """Keras EarlyStopping(patience=10) on the loss: no new best in ten points."""
    return len(values) > 10 and values[-10:].min() >= values[:-10].min()


def spike(values: Floats) -> bool:
    """Trackio's example of an alert: a loss above 1.5 times the one before."""
    return len(values) > 1 and values[-1] > 1.5 * values[-2] > 0


def not_decreasing(values: Floats) -> bool:
    """SageMaker Debugger's LossNotDecreasing: less than 0.1 % of decrease over 10 points."""
    return len(values) > 10 and values[-1] > 0.999 * values[-11] > 0


PEERS: Mapping[str, Callable[[Floats], bool]] = {
    "z-score of 30": zscore, "half means": half_means, "EarlyStopping(10)": early_stopping,
    "TerminateOnNaN": lambda values: not np.isfinite(values[-1]), "loss > 1.5 x the last": spike,
    "LossNotDecreasing": not_decreasing,
}  # fmt: skip


def spoke(event: LiveEvent) -> str:
    """Under which name an event counts; "" for one that is no alarm."""
    if event.decision is not None:
        return "traindx: stop" if event.decision.action == "stop" else ""
    if event.finding is None or event.kind == "resolved":
        return ""
    severe = SEVERITIES.index(event.finding.severity) <= SEVERITIES.index("high")
    return "traindx: high" if severe else "traindx: medium"


def replayed(run: Run, label: Mapping[str, Any], fine: bool) -> Replayed:
    episodes, events, first, looks = Episodes(), [], {}, 0
    for points, short in replay(run):
        looks += 1
        share = points / run.points
        for event in episodes.update(short.points, pipeline.diagnose(short).first):
            events.append(event)
            if spoke(event):
                first.setdefault(spoke(event), share)
        curve = Features(short).objective
        if curve is not None and len(curve.raw.values):
            for name, rule in PEERS.items():
                if name not in first and rule(curve.raw.values * curve.sign):
                    first[name] = share
    return Replayed(label["id"], half_of(label), fine, looks, events, first)


def cases(folder: Path) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The labels of logs that are called fine, or sick or failed, by everybody."""
    for label in json.loads((folder / "labels.json").read_text()):
        verdicts = set(label["verdict"])
        fine = verdicts == {"fine"}
        if label["path"].startswith("logs/") and (fine or not verdicts & {"fine", "watch", "cannot-tell"}):
            yield label, fine


def read(path: Path) -> Run | None:
    try:
        run = max(pipeline.read_all(path), key=lambda run: run.points)
    except ReadError:
        return None
    return run if run.points >= LEAST else None


def table(found: list[Replayed]) -> str:
    names = ("traindx: stop", "traindx: high", "traindx: medium", *PEERS)
    lines = ["| | fine runs alarmed | of them opened / last | sick runs warned before the end | median share of the run |",
             "|---|---|---|---|---|"]  # fmt: skip
    for name in names:
        by = defaultdict(list)
        for one in found:
            by[one.fine, one.half].append(one.first.get(name))
        fine = [first for (well, _), firsts in by.items() if well for first in firsts]
        held = [
            first for (well, half), firsts in by.items() if well and half != HALVES[0] for first in firsts
        ]
        sick = [first for (well, _), firsts in by.items() if not well for first in firsts]
        early = [first for first in sick if first is not None and first < 1]
        middle = f"{np.median(early):.2f}" if early else ""
        lines.append(
            f"| {name} | {spoken(fine)} | {spoken(held)} | {len(early)} of {len(sick)} | {middle} |"
        )
    return "\n".join(lines)


def spoken(firsts: list[float | None]) -> str:
    return f"{sum(first is not None for first in firsts)} of {len(firsts)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=Path, help="keep every event, one JSON line each")
    options = parser.parse_args()
    found = []
    for label, fine in cases(options.path):
        run = read(options.path / label["path"])
        if run is not None:
            found.append(replayed(run, label, fine))
    print(f"{len(found)} runs, {sum(one.looks for one in found)} prefixes\n")
    print(table(found))
    if options.rows:
        from traindx.reports.json import line

        options.rows.write_text(
            "".join(f"{one.name} {line(event)}\n" for one in found for event in one.events)
        )


if __name__ == "__main__":
    main()
