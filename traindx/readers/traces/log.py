"""A trace that was split into its steps, as a log."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from traindx.readers.raw import RawLog, RawPanel, column
from traindx.vocabulary import Event, Floats

LONG = 1e-6  # seconds; a shorter gap is not reported
Gap = tuple[float, float, str, str]  # the step, seconds, and what was computed before and after


class Steps(Protocol):
    """What was traced, by the numbers of its steps."""

    @property
    def numbers(self) -> Floats:
        """The steps."""

    def columns(self) -> dict[str, Floats]:
        """Signals, one value a step."""

    def panels(self) -> Iterator[tuple[str, tuple[str, ...], Floats]]:
        """Signals with one value a step and part: name, parts, values."""

    def gaps(self) -> Sequence[Gap]:
        """The longest times in which nothing was computed."""


def log_of(
    name: str,
    reader: str,
    framework: str,
    steps: Steps,
    facts: Mapping[str, object],
    events: Iterable[Event],
) -> RawLog:
    """One run, its signals by step, with the longest gaps among its events."""
    columns, rows = steps.columns(), np.arange(len(steps.numbers))
    raw = RawLog(
        name,
        reader,
        framework,
        {signal: column(values, rows, steps.numbers) for signal, values in columns.items()},
        axis_kind="step",
        roles={signal: signal for signal in columns},
        units={signal: "s" for signal in columns if signal.startswith("time/")},
        facts=dict(facts),
        events=[*events, *idle_events(steps.gaps())],
        complete=None,
    )
    for signal, names, values in steps.panels():
        raw.panels[signal] = RawPanel(steps.numbers, names, values, rows)
    return raw


def idle_events(gaps: Iterable[Gap]) -> list[Event]:
    """The longest times in which nothing was computed, and between what."""
    return [
        Event("note", f"idle for {seconds * 1e3:.3g} ms" + describe_gap(before, after), step, code="idle")
        for step, seconds, before, after in gaps
        if seconds >= LONG
    ]


def describe_gap(before: str, after: str) -> str:
    return (
        (f" after {before}" if before else "")
        + (" and" if before and after else "")
        + (f" before {after}" if after else "")
    )
