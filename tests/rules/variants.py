"""A run, changed in ways that should not change what a rule says of it, or that take something away."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from traindx.features.shared import Features
from traindx.vocabulary.run import Event, Panel, Run, Series, series


def rescaled(run: Run, factor: float = 7.3) -> Run:
    """Every loss times `factor`."""
    return map_series(
        run, lambda name, s: series(s.steps, s.values * factor, s.times) if is_loss(name) else s
    )


def is_loss(name: str) -> bool:
    """Whether a signal is a loss (and not the scale of half-precision losses)."""
    return "loss" in name.rsplit("/", 1)[-1] and name != "loss_scale"


def relabelled(run: Run, factor: float = 10.0, offset: float = 5.0) -> Run:
    """Every step called `factor * step + offset`: in signals, panels, events and planned lengths."""

    def event(e: Event) -> Event:
        return e if e.step is None else msgspec.structs.replace(e, step=factor * e.step + offset)

    def planned(length: float | None) -> float | None:
        return None if length is None else factor * length

    changed = map_series(run, lambda _, s: series(factor * s.steps + offset, s.values, s.times))
    panels = {n: Panel(factor * p.steps + offset, p.modules, p.values) for n, p in run.panels.items()}
    setup = msgspec.structs.replace(
        run.setup,
        planned_steps=planned(run.setup.planned_steps),
        warmup_steps=planned(run.setup.warmup_steps),
    )
    return msgspec.structs.replace(changed, panels=panels, events=tuple(map(event, run.events)), setup=setup)


def halved(run: Run) -> Run:
    """Every second point of every signal and panel dropped."""

    def half(_: str, s: Series) -> Series:
        return series(s.steps[::2], s.values[::2], None if s.times is None else s.times[::2])

    panels = {n: Panel(p.steps[::2], p.modules, p.values[::2]) for n, p in run.panels.items()}
    return msgspec.structs.replace(map_series(run, half), panels=panels)


def zeroed(run: Run) -> Iterator[Run]:
    """Every loss exactly 0 from the middle on, from the first point on, and at every third point."""

    def zeros(mask: Callable[[int], np.ndarray]) -> Callable[[str, Series], Series]:
        return lambda name, s: (
            series(s.steps, np.where(mask(len(s)), 0.0, s.values), s.times) if is_loss(name) else s
        )

    yield map_series(run, zeros(lambda n: np.arange(n) >= n // 2))
    yield map_series(run, zeros(lambda n: np.ones(n, dtype=bool)))
    yield map_series(run, zeros(lambda n: np.arange(n) % 3 == 1))


def map_series(run: Run, change: Callable[[str, Series], Series]) -> Run:
    return msgspec.structs.replace(run, series={n: change(n, s) for n, s in run.series.items()})


def cut(run: Run, last: float) -> Run:
    """The run as it was at step `last`: signals that had not begun are there, without points."""

    def head(_: str, s: Series) -> Series:
        n = int(np.searchsorted(s.steps, last, side="right"))
        return series(s.steps[:n], s.values[:n], None if s.times is None else s.times[:n])

    panels = {
        n: Panel(p.steps[p.steps <= last], p.modules, p.values[p.steps <= last])
        for n, p in run.panels.items()
    }
    events = tuple(e for e in run.events if e.step is None or e.step <= last)
    return msgspec.structs.replace(map_series(run, head), panels=panels, events=events, complete=None)


def prefixes(run: Run, count: int = 12) -> Iterator[Run]:
    """About `count` prefixes: before the first step, the first few points, then evenly spread."""
    steps = np.unique(np.concatenate([s.steps for s in run.series.values()] or [np.zeros(1)]))
    n = len(steps)
    yield cut(run, float(steps[0]) - 1.0)
    for index in sorted({0, 1, 2, 4, *np.linspace(5, n - 1, max(count - 5, 1)).astype(int).tolist()}):
        if 0 <= index < n:
            yield cut(run, float(steps[index]))


def without(run: Run, need: str) -> Run | None:
    """The run without anything that satisfies `need` (a rule's entry); None where nothing can be taken."""
    for name in need.split("|"):
        if name == "run":
            return None
        if name == "objective":
            while objective := Features(run).objective_name:
                run = dropped(run, lambda n, gone=objective: n == gone)
        elif name.startswith("event:"):
            events = tuple(e for e in run.events if e.kind != name.removeprefix("event:"))
            run = msgspec.structs.replace(run, events=events)
        elif name.startswith("setup:"):
            run = without_fact(run, name.removeprefix("setup:"))
        elif name.endswith("/*"):
            run = dropped(run, lambda n, stem=name[:-1]: n.startswith(stem))
            run = msgspec.structs.replace(
                run, panels={n: p for n, p in run.panels.items() if n != name[:-2]}
            )
        else:
            run = dropped(run, lambda n, gone=name: n == gone)
    return run


def dropped(run: Run, gone: Callable[[str], bool]) -> Run:
    kept = {n: s for n, s in run.series.items() if not gone(n)}
    panels = {n: p for n, p in run.panels.items() if not gone(n)}
    return msgspec.structs.replace(run, series=kept, panels=panels)


def without_fact(run: Run, name: str) -> Run:
    facts = {k: v for k, v in run.setup.facts.items() if k != name}
    own = {name: None} if hasattr(run.setup, name) else {}
    return msgspec.structs.replace(run, setup=msgspec.structs.replace(run.setup, facts=facts, **own))
