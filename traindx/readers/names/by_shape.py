"""What a column without a telling name is, by the shape of its values."""

from collections.abc import Mapping

import numpy as np

from traindx.features.statistics import median
from traindx.readers.names.aliases import PHRASES
from traindx.readers.raw import RawLog
from traindx.vocabulary import Floats

FEW = 2  # points, which are no curve
ENOUGH = 10  # points that show how a curve bends
FALLEN_FAR = 0.7  # of its first level, below which a column without a counter next to it fell like a loss


def role_by_shape(values: Floats, *, counted: bool) -> str:
    """What a single column without a name is by its shape: a loss that falls, or a score that rises and settles.
    Otherwise a loss if a counter is next to it (`counted`), else ""."""
    first, last = both_ends(values)
    middle = float(median(values[np.isfinite(values)][len(values) // 3 : 2 * len(values) // 3 + 1]))
    if len(values) > FEW and 0 <= first < middle <= last and last - middle < middle - first:
        return "train/score"
    far = 0 < last < FALLEN_FAR * first and falls(values)
    return "train/loss" if counted or far else ""


RISING = 0.7  # of the changes, from which values rise, though several runs in one log end lower than the first began


def falls(values: Floats) -> bool:
    """Whether values end lower than they begin, and most changes are no rise."""
    first, last = both_ends(values)
    return last < first and float(np.mean(np.diff(values) > 0)) < RISING


def both_ends(values: Floats) -> tuple[float, float]:
    """The medians of the first few of the finite values, and of their last third."""
    known = values[np.isfinite(values)]
    part = max(1, len(known) // 3)
    return (
        (float(median(known[:part][:5])), float(median(known[-part:]))) if len(known) else (np.nan, np.nan)
    )


def is_likelihood(values: Floats) -> bool:
    """Whether values below 0 rise from the first on and level off. A loss below 0 that diverges has fallen before."""
    values = values[np.isfinite(values)]
    if len(values) < ENOUGH or values.max() >= 0:
        return False
    first, last = both_ends(values)
    middle = float(median(values[len(values) // 3 : 2 * len(values) // 3 + 1]))
    lowest = float(np.quantile(values[len(values) // 3 :], 0.05))
    return first < lowest and first < middle <= last and last - middle < middle - first


def lone_unknown(chosen: Mapping[str, str], raw: RawLog) -> str:
    """The only column with fractions whose name means nothing, where no name means a loss or a score (`Le 51.2` next to
    a rate and times); else ""."""
    if any(signal.startswith(("train/", "val/")) for signal in chosen):
        return ""
    unknown = [n for signal, n in chosen.items() if signal == n and "/" not in n and n not in PHRASES]
    short = [
        n for n in unknown if n.replace("_", "").isalpha() and n.count("_") < FEW
    ]  # longer names mean something
    values = {n: raw.columns[n].values for n in short}
    fractions = [n for n, v in values.items() if len(v) > FEW and np.isfinite(v).all() and (v % 1).any()]
    return fractions[0] if len(fractions) == 1 and raw.axis_kind in ("step", "epoch") else ""
