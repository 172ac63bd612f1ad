"""Units of logged values, brought to the vocabulary's: seconds, bytes, fractions."""

import numpy as np

from traindx.features.statistics import median
from traindx.readers.names.aliases import words_of
from traindx.readers.names.modules import PERCENT, SHARES
from traindx.vocabulary import Floats, Series, series

SECONDS = {
    "ms": 1e-3,
    "msec": 1e-3,
    "milliseconds": 1e-3,
    "us": 1e-6,
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "min": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
}
BYTES = {
    "b": 1.0,
    "k": 2.0**10,
    "kb": 2.0**10,
    "kib": 2.0**10,
    "m": 2.0**20,
    "mb": 2.0**20,
    "mib": 2.0**20,
    "g": 2.0**30,
    "gb": 2.0**30,
    "gib": 2.0**30,
    "t": 2.0**40,
}
EPOCH_SECONDS, EPOCH_MILLISECONDS = 9e8, 9e11  # since 1970: the year 1998
HASTE = 0.6  # of the rows from one to the next of which a clock moves
EACH = frozenset(
    {"per", "each", "it", "iter", "iteration", "batch", "step", "dt"}
)  # of one: no clock, however steadily it rises
RESTARTS = 0.1  # of the rows at which a clock may start again
FRACTIONS = ("accuracy", "error_rate", "balanced_accuracy", "test_accuracy", "test_acc")


def to_canonical_unit(signal: str, part: Series, unit: str, original: str) -> tuple[str, Series] | None:
    """The signal in its canonical unit and perhaps under a truer name; None when it turns out to
    be no measurement (a clock)."""
    if signal.startswith("time/"):
        return in_seconds(signal, part, unit, original)
    if signal.startswith("mem/"):
        return signal, scale_series(part, bytes_factor(part.values, unit, original))
    if signal.startswith(SHARES):
        return signal, scale_series(part, 0.01 if unit == "%" or PERCENT.search(original) else 1.0)
    if signal.startswith("util/") or signal.lower().split("/")[-1] in FRACTIONS:
        top = float(np.nanmax(part.values, initial=0.0))
        return signal, scale_series(part, 0.01 if unit == "%" or 1.5 < top <= 100.0 else 1.0)
    return signal, part


def in_seconds(signal: str, part: Series, unit: str, original: str) -> tuple[str, Series] | None:
    """A time in seconds. A clock (seconds since the start, or since 1970) is turned into seconds per step,
    which is what rules read; what was read off it where it started anew is no time of a step."""
    words = words_of(original)
    factor = next((SECONDS[w] for w in (unit.lower(), *words) if w in SECONDS), 1.0)
    if EACH & set(words) or not is_clock(part.values):
        return signal, scale_series(part, factor)
    if factor == 1.0 and float(np.nanmedian(part.values)) > EPOCH_MILLISECONDS:
        factor = 1e-3
    spent = np.diff(part.values) * factor
    known = np.isfinite(spent) & (spent >= 0)
    if not known.any():
        return None
    return signal, series(
        part.steps[1:][known], spent[known] / np.maximum(np.diff(part.steps)[known], 1e-300)
    )


def is_clock(values: Floats) -> bool:
    """Whether values are a running clock rather than durations. A time since 1970 is one by its size. A time
    since the start only rises, but where the run was resumed and it starts again near 0: a duration that is
    measured rises in every second row."""
    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() > EPOCH_SECONDS:
        return True
    if len(finite) < 5:
        return False
    change = np.diff(finite)
    falls = np.flatnonzero(change < 0)
    if len(falls) > RESTARTS * len(change) or (finite[falls + 1] > 0.5 * finite[falls]).any():
        return False
    if np.mean(change > 0) <= HASTE:  # a time in few digits is constant for a row
        return False
    if len(finite) >= 20:
        return bool(median(finite) > 3 * median(change))
    rises = change[change > 0]
    return bool(rises.sum() > 0.5 * len(rises) * median(rises) and finite.max() > 3 * max(finite[0], 0.0))


def bytes_factor(values: Floats, unit: str, original: str) -> float:
    """Bytes per logged unit, by the stated unit or by what is plausible for a machine's memory."""
    for word in (unit.lower(), *words_of(original)):
        if word in BYTES and word not in ("b", "k", "m", "t"):
            return BYTES[word]
        if unit and word == unit.lower() and word in BYTES:
            return BYTES[word]
    top = float(np.nanmax(values, initial=0.0))
    if top < 2000:
        return 2.0**30 if top < 200 else 2.0**20
    return 2.0**20 if top < 4e6 else 1.0


def scale_series(part: Series, factor: float) -> Series:
    return part if factor == 1.0 else series(part.steps, part.values * factor, part.times)
