"""Tables with one column for each learning rate that was tried: runs side by side, not parts of one."""

from __future__ import annotations

import re
from math import isfinite

from msgspec.structs import replace

from traindx.readers.names.aliases import role_of
from traindx.readers.raw import RawLog

RATE = re.compile(
    r"(?P<before>.*?)[\s_/-]*(?:lr|learning[\s_-]?rate)[\s_=:-]*(?P<rate>\d*\.?\d+(?:e[-+]?\d+)?)(?P<after>\D*)",
    re.IGNORECASE,
)
COUNTERS = ("step", "epoch", "iteration")


def by_rate(log: RawLog) -> list[RawLog]:
    """A log for each rate of a table whose columns, but for what counts its rows, have the same name up to a
    learning rate: `lr=0.1,lr=0.01`, `loss_lr0.1,loss_lr0.01`. Columns that name nothing else are losses. Any
    other log as it is: a schedule of several groups (`lr0,lr1`) has integers, no rates."""
    shared = {n: c for n, c in log.columns.items() if n == log.axis or role_of(n).signal in COUNTERS}
    found = {n: RATE.fullmatch(n) for n in log.columns if n not in shared}
    named = {n: match for n, match in found.items() if match is not None and 0 < float(match["rate"]) < 1}
    if len(named) < 2 or len(named) < len(found):
        return [log]
    rates = {float(match["rate"]) for match in named.values() if isfinite(float(match["rate"]))}
    names = {f"{match['before']}{match['after']}".strip(" _-/") for match in named.values()}
    if len(rates) < len(named) or len(names) > 1:
        return [log]
    name = names.pop() or "loss"
    return [
        replace(
            log,
            source=f"{log.source}: {column}",
            columns={**shared, name: log.columns[column]},
            facts={**log.facts, "lr": float(match["rate"])},
            group="",
        )
        for column, match in named.items()
    ]
