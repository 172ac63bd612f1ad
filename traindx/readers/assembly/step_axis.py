"""The step axis of a log: which column it is, and where it goes backwards."""

from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from traindx.features.statistics import distinct, median
from traindx.readers.names.aliases import in_english, words_of
from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary import Floats, Ints

# Names of step axes, the best first: exact counters of optimizer steps before coarse ones.
AXIS_NAMES = (
    "global_step",
    "trainer/global_step",
    "train/global_step",
    "num_updates",
    "step",
    "steps",
    "iteration",
    "iterations",
    "iter",
    "it",
    "i",
    "update",
    "updates",
    "n_iter",
    "total_timesteps",
    "timesteps",
    "time/total_timesteps",
    "total_steps",
    "env_steps",
    "totalenvsteps",
    "total_num_steps",
    "nupdates",
    "samples",
    "batch",
    "epoch",
    "epochs",
    "ep",
    "round",
    "_step",
    "episode",
    "episodes",
    "train/epoch",
    "n_epoch",
)
AXIS_KINDS = {
    "epoch": "epoch",
    "epochs": "epoch",
    "ep": "epoch",
    "episode": "episode",
    "episodes": "episode",
    "train/epoch": "epoch",
}


def axis_kind(name: str | None) -> str | None:
    """What an axis counts where that is not steps, by its name in any language."""
    return AXIS_KINDS.get(in_english(name or "").strip().lower())


CUTS = frozenset({"threshold", "thresholds", "tau", "taus", "cutoff", "cutoffs", "fpr"})


def swept(columns: dict[str, RawColumn]) -> str:
    """The column of thresholds over which scores of one model are listed, in order; "" for none."""
    found = (n for n, c in columns.items() if CUTS & {*words_of(n)} and len(c.values) >= 5)
    return next((n for n in found if count_directions(columns[n].values) == 1), "")


def count_directions(values: Floats) -> int:
    """In how many ways neighbouring values differ: up, down, both or not at all."""
    with np.errstate(all="ignore"):  # of damaged tables
        change = np.diff(values)
    return int((change > 0).any()) + int((change < 0).any())


def find_axis(columns: dict[str, RawColumn]) -> str | None:
    """The column that counts steps: known by name, present on most rows, and rising."""
    rows = max((len(c.rows) for c in columns.values()), default=0)
    lower = {in_english(name).strip().lower().replace(" ", "_"): name for name in columns}
    known = [lower[a] for a in AXIS_NAMES if a in lower]
    usable = [n for n in known if counts_up(columns[n].values)] or [
        n for n in known if is_shuffled(columns[n].values)
    ]
    # An axis that only a part of the rows carries is second to one that all of them do.
    for name in [a for a in usable if len(columns[a].rows) >= 0.9 * rows] or usable:
        return name
    guess = [
        n
        for n in columns
        if n.lower().endswith(("step", "steps", "iteration", "iter", "iters", "epoch"))
        and "per" not in words_of(n)
    ]
    return next(
        (n for n in guess if counts_up(columns[n].values) and len(columns[n].rows) >= 0.5 * rows), None
    )


def counts_up(values: Floats) -> bool:
    """Whether a column behaves as a counter: finite, rarely falling, and moving at all."""
    finite = values[np.isfinite(values)]
    if len(finite) < max(1, 0.9 * len(values)):
        return False
    if len(finite) < 3:
        return True
    steps = np.diff(finite)
    return bool((steps >= 0).mean() >= 0.8 and (steps > 0).any())


def is_shuffled(steps: Floats) -> bool:
    """Whether steps are all there but out of order: finite, none twice, and often falling."""
    if len(steps) < 4 or not np.isfinite(steps).all():
        return False
    return bool((np.diff(steps) < 0).mean() > 0.2 and distinct(steps) == len(steps))


def steps_of(column: RawColumn, axis: RawColumn | None) -> Floats:
    """The step of every value of `column[n]`: its own, or that of the nearest axis row at or
    before it (rows that carry no axis belong to the last one that did), or its row number."""
    if column.steps is not None:
        return column.steps
    if axis is None or not len(axis.rows):
        return column.rows.astype(np.float64)
    return axis.values[np.clip(np.searchsorted(axis.rows, column.rows, side="right") - 1, 0, None)]


def spread(axis: RawColumn, reference: RawColumn | None) -> RawColumn:
    """The axis; where it counts epochs and most rows of `reference` share theirs with the next one (a loss
    for every batch, next to the epoch only), rows of an epoch are spread over it."""
    if reference is None or reference.steps is not None:
        return axis
    steps = steps_of(reference, axis)
    if len(steps) < 4 or np.mean(np.diff(steps) == 0) < 0.5:
        return axis
    begins = np.concatenate(([True], np.diff(axis.values) != 0))
    first = np.flatnonzero(begins)
    which = np.cumsum(begins) - 1
    length = np.diff(np.append(first, len(axis.values)))
    return replace(axis, values=axis.values + (np.arange(len(axis.values)) - first[which]) / length[which])


def back_jumps(steps: Floats) -> Ints:
    """Indices at which a step sequence goes backwards."""
    return np.flatnonzero(np.diff(steps) < 0) + 1


def densest(raw: RawLog, axis: str | None) -> RawColumn | None:
    """The column with most points except the axis: its steps show where runs begin."""
    others = [c for n, c in raw.columns.items() if n != axis]
    return max(others, key=lambda c: len(c.rows), default=None)


def is_inner_counter(steps: Floats, values: Floats, jumps: Ints) -> bool:
    """Whether a counter that keeps falling back counts within epochs rather than over the run:
    at least three stretches of the same length, whose values go on where the last ended."""
    if len(jumps) < 2:
        return False
    edges = [0, *jumps.tolist(), len(steps)]
    lasts = np.array([steps[b - 1] for b in edges[1:-1]])
    if not np.isfinite(lasts).all() or np.ptp(lasts) > 0.1 * lasts.max():
        return False
    if steps[-1] > 1.1 * lasts.max() or min(np.diff(edges)[:-1]) < 3:
        return False
    firsts = np.array([level(values[a : a + 3]) for a in edges[:-1]])
    ends = np.array([level(values[max(a, b - 3) : b]) for a, b in pairwise(edges)])
    to_previous = np.abs(firsts[1:] - ends[:-1])
    to_start = np.abs(firsts[1:] - firsts[0])
    return bool(level(to_previous) < level(to_start))  # values that never move show neither


def level(values: Floats) -> float:
    """The median of what is no NaN; NaN where nothing is."""
    return float(median(values[~np.isnan(values)]))


def unroll_counter(steps: Floats, jumps: Ints) -> Floats:
    """A counter within epochs, turned into one over the whole run."""
    out = steps.astype(np.float64).copy()
    if not np.isfinite(out).all():
        return out
    spacing = float(median(np.diff(steps)[np.diff(steps) > 0])) if len(steps) > 2 else 1.0
    for jump in jumps:
        out[jump:] += out[jump - 1] - out[jump] + spacing
    return out
