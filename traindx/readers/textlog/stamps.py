"""Time stamps of lines, from their digits to seconds since 1970."""

from __future__ import annotations

import re

import numpy as np

from traindx.vocabulary.run import Floats

RUN = re.compile(r"\d+", re.ASCII)


def seconds(sample: str, digits: Floats) -> Floats | None:
    """Seconds `[n]` of stamps like `sample`, whose runs of digits are `digits[n, s]`; None when
    the sample's layout is not known. Where the year is missing 1970 is taken: differences hold."""
    widths = [len(r) for r in RUN.findall(sample)]
    if len(widths) < 5 or digits.shape[1] != len(widths):
        return None
    column = [digits[:, i] for i in range(len(widths))]
    if widths[0] == 4 and re.match(r"\d{4}[-/.]", sample):
        year, month, day, clock = column[0], column[1], column[2], 3
    elif widths[0] == 4:  # glog: month and day in one, a process number at the end
        year, month, day, clock = np.full(len(digits), 1970.0), column[0] // 100, column[0] % 100, 1
    else:
        extra = 1 if re.match(r"\d+[/-]\d+[/-]\d+", sample) else 0
        year, month, day, clock = np.full(len(digits), 1970.0), column[0], column[1], 2 + extra
    days = day_number(year, month, day)
    parts = column[clock : clock + 3]
    total = days * 86400.0
    for part, scale in zip(parts, (3600.0, 60.0, 1.0), strict=False):
        total = total + part * scale
    if len(column) > clock + 3 and re.search(r"\d[.,]\d+", sample):
        total = total + column[clock + 3] / 10.0 ** widths[clock + 3]
    return total


def day_number(year: Floats, month: Floats, day: Floats) -> Floats:
    """Days since 1970-01-01 of calendar dates (proleptic Gregorian, months of March first)."""
    y = year - (month <= 2)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return np.asarray(era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468, dtype=np.float64)
