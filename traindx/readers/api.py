"""What most formats need, for one import: `from traindx.readers.api import RawLog, Source`.

Only what reading any log loads anyway is exported."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from traindx.errors import NotALog, ReadError
from traindx.readers.raw import (
    HEAD_BYTES,
    RawColumn,
    RawLog,
    RawPanel,
    Source,
    column,
    reason,
    source_of,
    stack_panels,
)
from traindx.vocabulary import ENDINGS, Event, EventKind, Floats

__all__ = [
    "ENDINGS",
    "HEAD_BYTES",
    "Any",
    "Event",
    "EventKind",
    "Floats",
    "Iterator",
    "Mapping",
    "NotALog",
    "Path",
    "RawColumn",
    "RawLog",
    "RawPanel",
    "ReadError",
    "Source",
    "column",
    "np",
    "reason",
    "source_of",
    "stack_panels",
]
