"""One message of several events, for people; the events themselves are in it for programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from traindx.live.screen import event_line
from traindx.reports.labels import visible
from traindx.vocabulary import SEVERITIES
from traindx.vocabulary.live import LiveEvent

NAMED = 3  # runs that are named where many have the same finding
MOST_LINES = 40
REPEATED = "Sent again after a restart: this may have arrived before."


class NotDelivered(Exception):
    """A message did not arrive; says why, without the address."""


class Message(NamedTuple):
    """`repeated`: an earlier attempt was cut off and may have arrived. `receipt`: a file in which a channel may note
    what has become of it."""

    title: str
    text: str
    events: tuple[LiveEvent, ...]
    receipt: Path
    repeated: bool = False

    @property
    def name(self) -> str:
        return self.events[-1].cursor


def message(
    events: Sequence[LiveEvent], receipt: Path, *, repeated: bool = False, digest: bool = False
) -> Message:
    """`events` in the order in which they happened; what many runs have in common is one line."""
    groups: dict[tuple[str, str], list[LiveEvent]] = {}
    for event in events:
        what = event.finding.slug if event.finding else event.kind
        groups.setdefault((event.kind, what), []).append(event)
    lines = [line for group in groups.values() for line in group_lines(group)]
    further = [f"and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    text = "\n".join([*([REPEATED] if repeated else []), *lines[:MOST_LINES], *further])
    return Message(title(events, digest), text, tuple(events), receipt, repeated)


def group_lines(events: Sequence[LiveEvent]) -> list[str]:
    runs = list(dict.fromkeys(short_path(event.run) for event in events))
    if len(runs) <= NAMED:
        return [event_line(event, short_path(event.run)) for event in events]
    return [
        f"{event_line(events[0], runs[0])} (and in {len(runs) - 1} more runs: {', '.join(runs[1:NAMED])}, ...)"
    ]


def title(events: Sequence[LiveEvent], digest: bool) -> str:
    runs = list(dict.fromkeys(short_path(event.run) for event in events))
    severities = [event.finding.severity for event in events if event.finding and event.kind != "resolved"]
    worst = [severity for severity in SEVERITIES if severity in severities][:1]
    where = runs[0] if len(runs) == 1 else f"{len(runs)} runs"
    return " ".join(["traindx", *(["digest"] if digest else []), *worst]) + f": {where}"


def short_path(run: str) -> str:
    """The end of a run's path, by which it is known in a message."""
    return visible("/".join(run.replace("\\", "/").split("/")[-2:]))
