"""One run, cut after each of its rows, and what traindx and the rules of other tools say of each beginning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from benchmarks.streams.peers import PEERS
from traindx import pipeline
from traindx.features.shared import Features
from traindx.live.episodes import Episodes
from traindx.vocabulary.diagnosis import SEVERITIES
from traindx.vocabulary.live import LiveEvent
from traindx.vocabulary.run import Panel, Run, Series

LEAST = 4  # points of a run that is replayed
GROWTH = 1.04  # between two looks at a long run
AFTERWARDS = "reference_"  # facts of simple predictors, which are fitted when a recorded run has ended
STOP, HIGH, MEDIUM = "traindx: advice to stop", "traindx: high or critical", "traindx: medium"
TOOLS = (STOP, HIGH, MEDIUM, *PEERS)


class Replayed(NamedTuple):
    """One run. `kind`: "fine", "sick", or "harmless" (a fault that cost nothing). `first`: of each tool, the share of
    the run at which it alarmed first; missing where it never did. `last`: the run's last step."""

    name: str
    half: str
    kind: str
    looks: int
    last: float
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
    """What was known of a run when it had come to the step `last`. Its setup counts as known from the start, but for
    what is measured after the end."""

    def cut(series: Series) -> Series:
        n = int(np.searchsorted(series.steps, last, side="right"))
        times = None if series.times is None else series.times[:n]
        return Series(series.steps[:n], series.values[:n], times)

    def cut_panel(panel: Panel) -> Panel:
        n = int(np.searchsorted(panel.steps, last, side="right"))
        return Panel(panel.steps[:n], panel.modules, panel.values[:n])

    series = {name: cut(series) for name, series in run.series.items()}
    panels = {name: cut_panel(panel) for name, panel in run.panels.items()}
    events = tuple(
        e for e in run.events if (e.step is not None and e.step <= last) or e.kind in ("note", "log-suspect")
    )
    facts = {name: fact for name, fact in run.setup.facts.items() if not name.startswith(AFTERWARDS)}
    return msgspec.structs.replace(
        run,
        setup=msgspec.structs.replace(run.setup, facts=facts),
        series={name: s for name, s in series.items() if len(s)},
        panels={name: p for name, p in panels.items() if len(p.steps)},
        events=events,
        complete=None,
    )


def beginnings(run: Run) -> Iterator[tuple[int, Run]]:
    """The run as it was after each place, with its points so far."""
    longest = max(run.series.values(), key=len)
    for points in places(len(longest)):
        yield points, run if points == len(longest) else prefix(run, float(longest.steps[points - 1]))


def tool_of(event: LiveEvent) -> str | None:
    """Under which name an event counts as an alarm."""
    if event.decision is not None:
        return STOP if event.decision.action == "stop" else None
    if event.finding is None or event.kind == "resolved":
        return None
    severe = SEVERITIES.index(event.finding.severity) <= SEVERITIES.index("high")
    return HIGH if severe else MEDIUM


def replayed(run: Run, name: str, half: str, kind: str) -> Replayed:
    """Every beginning of a run through the episodes of `traindx watch`."""
    episodes, events, first, looks = Episodes(), [], {}, 0
    for points, short in beginnings(run):
        looks += 1
        share = points / run.points
        for event in episodes.update(short.points, pipeline.diagnose(short).first):
            events.append(event)
            tool = tool_of(event)
            if tool is not None:
                first.setdefault(tool, share)
        curve = Features(short).objective
        if curve is not None and len(curve.raw.values):
            for peer, rule in PEERS.items():
                if peer not in first and rule(curve.raw.values * curve.sign):
                    first[peer] = share
    return Replayed(name, half, kind, looks, run.last_step or 0.0, events, first)
