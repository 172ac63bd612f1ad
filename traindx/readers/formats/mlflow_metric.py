"""One metric's file out of an MLflow folder: lines of `time value step`, named after the metric."""

import re

from traindx.readers.api import Event, Path, RawLog, Source
from traindx.readers.formats.mlflow import points_of, run_log

NAME = "mlflow-metric"
MOST = 0.9
BEGINS = tuple(b"%d" % digit for digit in range(10))
# The time is in milliseconds since 1970: 12 to 14 digits. Files of old servers have no step.
POINT = re.compile(rb"\d{12,14} [-+]?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf(?:inity)?)(?: \d+)?\s*", re.IGNORECASE)


def sniff(source: Source) -> float:
    """Sure where every line is one point; the last line of the head may be cut."""
    lines = source.head.split(b"\n")[:-1]
    return 0.9 if lines and all(map(POINT.fullmatch, lines)) else 0.0


def read(source: Source) -> list[RawLog]:
    """The log of that metric alone."""
    events: list[Event] = []
    log = run_log(source.name, {Path(source.name).name: points_of(source, events)}, {}, "")
    log.events += events
    return [log]
