"""Time stamps of lines, from their digits to seconds since 1970."""

from __future__ import annotations

import re

import numpy as np

from traindx.vocabulary.run import Floats

LONGEST_RUN = 9  # digits of one part: nanoseconds, or a process number
RUN = re.compile(r"\d+", re.ASCII)


def seconds(sample: str, stamps: list[str]) -> Floats | None:
    """Seconds `[n]` of stamps that are laid out exactly like `sample`, or None when that layout is
    not known. Where the year is missing 1970 is taken: differences hold."""
    runs = [(r.start(), r.end()) for r in RUN.finditer(sample)]
    if len(runs) < 5 or not sample.isascii() or any(b - a > LONGEST_RUN for a, b in runs):
        return None
    codes = np.frombuffer("".join(stamps).encode("ascii"), dtype=np.uint8).reshape(-1, len(sample))
    columns = [number(codes[:, a:b]) for a, b in runs]
    first = runs[0][1] - runs[0][0]
    none = np.full(len(codes), 1970.0)
    if first == 4 and re.match(r"\d{4}[-/.]", sample):
        year, month, day, clock = columns[0], columns[1], columns[2], 3
    elif first == 4:  # glog: month and day in one, a process number at the end
        year, month, day, clock = none, columns[0] // 100, columns[0] % 100, 1
    else:
        year, month, day, clock = (
            none,
            columns[0],
            columns[1],
            3 if re.match(r"\d+[/-]\d+[/-]\d+", sample) else 2,
        )
    total = day_number(year, month, day) * 86400.0
    for column, scale in zip(columns[clock : clock + 3], (3600.0, 60.0, 1.0), strict=False):
        total = total + column * scale
    if len(columns) > clock + 3 and sample[runs[clock + 3][0] - 1] in ".,":
        a, b = runs[clock + 3]
        total = total + columns[clock + 3] / 10.0 ** (b - a)
    return total


def number(digits: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> Floats:
    """Whole numbers `[n]` from the character codes `[n, d]` of their digits."""
    with np.errstate(over="ignore"):  # a damaged stamp may have hundreds of digits
        scale = 10.0 ** np.arange(digits.shape[1] - 1, -1, -1)
    return np.asarray((digits.astype(np.float64) - 48.0) @ scale, dtype=np.float64)


def day_number(year: Floats, month: Floats, day: Floats) -> Floats:
    """Days since 1970-01-01 of calendar dates (proleptic Gregorian; the year begins in March, so
    that the leap day is its last)."""
    y = year - (month <= 2)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return np.asarray(
        era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468, dtype=np.float64
    )
