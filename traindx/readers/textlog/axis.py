"""The step axis of a text: the counter that most records carry, and the step of all other lines."""

import msgspec
import numpy as np

from traindx.features.statistics import distinct, median
from traindx.readers.textlog.counting import Count, epoch_column, is_whole
from traindx.readers.textlog.grammar import is_loose
from traindx.readers.textlog.shapes import Shape
from traindx.vocabulary import Floats, Ints

WEIGHT = {2: 1.0, 1: 0.3, 0: 0.01}  # of a row, by what its names say
ENOUGH = 5  # rows that a record of nothing but unknown names must have


class Axis(msgspec.Struct):
    """`rows[n]` ascending and the `steps[n]` counted there. `total`, `epochs`: planned ends."""

    label: str
    kind: str
    rows: Ints
    steps: Floats
    total: float | None
    epochs: float | None

    def at(self, rows: Ints, *, late: bool = False) -> Floats:
        """The step of lines that do not name one: that of the last step line before them, or of
        the next one for lines that are printed first. Beyond the ends the nearest, carried on by
        one spacing for lines that wait for a next step that never came."""
        if late:
            index = np.searchsorted(self.rows, rows, side="left")
            beyond = index >= len(self.rows)
            found = self.steps[np.minimum(index, len(self.rows) - 1)]
            gaps = np.diff(self.steps)
            gap = float(median(gaps[gaps > 0])) if (gaps > 0).any() else 0.0
            return np.where(beyond, found + gap, found)
        index = np.clip(np.searchsorted(self.rows, rows, side="right") - 1, 0, None)
        return self.steps[index]

    def spread(self, rows: Ints) -> Floats:
        """The steps of lines of which many come between two that count, at even distances: up to the line
        that follows where the first of them comes before any count, else on from the last one."""
        place = np.searchsorted(self.rows, rows, side="right")
        before = bool(place[0] == 0)
        _, first, group, size = np.unique(place, return_index=True, return_inverse=True, return_counts=True)
        share = (np.arange(len(rows)) - first[group] + before) / size[group]
        gaps = np.diff(self.steps)
        usual = float(median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0
        gaps = np.where(gaps > 0, gaps, usual)  # the count begins anew, or is printed twice
        if before:
            ends = np.append(self.steps, self.steps[-1] + usual)
            return ends[place] - np.concatenate(([usual], gaps, [usual]))[place] * (1 - share)
        return self.steps[place - 1] + np.append(gaps, usual)[place - 1] * share


def find_axis(shapes: list[Shape], counts: list[Count | None]) -> Axis | None:
    """The axis of the log, or None when no counter goes with anything worth reading."""
    scores: dict[str, float] = {}
    ranks: dict[str, int] = {}
    # Options that are printed once (`eval_step=50, lr=0.1`) count none of the losses that follow without a counter.
    many = any(
        c is None and len(s) >= ENOUGH and s.strength() == 2 for s, c in zip(shapes, counts, strict=True)
    )
    for shape, count in zip(shapes, counts, strict=True):
        if count is None or shape.closing:
            continue
        strength = shape.strength()
        named = strength or (len(shape) >= ENOUGH and advances(count.values) and has_own_name(shape))
        weight = WEIGHT[strength] if shape.metrics() and named and not (many and len(shape) == 1) else 0.0
        scores[count.label] = scores.get(count.label, 0.0) + weight * len(shape)
        ranks[count.label] = min(ranks.get(count.label, 9), count.rank)
    if not any(scores.values()):
        scores = {label: rows_served(label, shapes, counts) for label in scores}
    best = max(scores, key=lambda label: (scores[label], -ranks[label]), default=None)
    return None if best is None or scores[best] <= 0 else axis_of(best, shapes, counts)


def advances(values: Floats) -> bool:
    """Whether a counter nearly always goes on, or begins again where it began."""
    return bool(np.mean((np.diff(values) > 0) | (values[1:] == values[0])) > 0.9)


def has_own_name(shape: Shape) -> bool:
    return any(not is_loose(shape.fields[i]) for i in shape.metrics())


def rows_served(label: str, shapes: list[Shape], counts: list[Count | None]) -> float:
    """How many rows of lines without a counter come one by one between lines that only count."""
    marks = [s.rows for s, c in zip(shapes, counts, strict=True) if c is not None and c.label == label]
    rows = np.sort(np.concatenate(marks))
    total = 0.0
    for shape, count in zip(shapes, counts, strict=True):
        if count is None and shape.strength() == 2 and intervals(rows, shape.rows)[1] <= 1.5:
            total += len(shape) if len(rows) > 1 else 0.0
    return total


def intervals(marks: Ints, rows: Ints) -> tuple[int, float]:
    """Into how many of the stretches that `marks` begin `rows` fall, and how many fall in each."""
    places = np.searchsorted(marks, rows, side="right")
    inside = places[places > 0]
    if not len(inside):
        return 0, float("inf")
    occupied = distinct(inside)
    return occupied, len(rows) / occupied


def axis_of(label: str, shapes: list[Shape], counts: list[Count | None]) -> Axis:
    """The axis made of all lines that count `label`, and of others that count the same."""
    pairs = [(s, c) for s, c in zip(shapes, counts, strict=True) if c is not None and not s.closing]
    chosen = [(s, c) for s, c in pairs if c.label == label]
    core = record_counts(chosen)
    largest = max(core, key=lambda item: len(item[0]))
    rows, steps = merge_kinds([largest])
    joined, beside = [largest], []
    for shape, count in pairs:
        # `step:1K epch:2.53` after `step:800 epch:2.02`: the step is rounded, so fractions of epochs count on.
        column = epoch_column(shape) if label == "epoch" != count.label else None
        if column is not None and not is_whole(shape.data[:, column]):
            count = Count(label, "epoch", shape.data[:, column], rank=3)
        if shape is largest[0] or (count.label != label and not comparable(count, largest[1])):
            continue
        if of_other_length(count, largest[1]):
            beside.append(shape)
            continue
        if not shape.metrics() and median(shape.rows) < rows[0]:
            continue  # `step = 0` somewhere before the first record
        if goes_with(rows, steps, shape.rows, count.values, same=count.label == label):
            joined.append((shape, count))
            if count.label == label:
                rows, steps = merge_kinds(joined)
    rows, steps = merge_kinds(joined)
    totals = [c.total for s, c in joined if c.total and c.label == label]
    planned = [c.epochs for _, c in chosen if c.epochs] or [
        c.epochs for c in counts if c is not None and c.epochs
    ]
    kind = largest[1].kind
    if kind == "epoch" and too_coarse(largest[1].values):
        return by_row(largest[0], largest[1], max(planned, default=None))
    for shape, count in joined:
        shape.steps = count.values
    axis = Axis(label, kind, rows, steps, max(totals, default=None), max(planned, default=None))
    for shape in beside:
        shape.steps = axis.at(shape.rows)
    return axis


def record_counts(chosen: list[tuple[Shape, Count]]) -> list[tuple[Shape, Count]]:
    """Those of the lines with one counter that are records: with values, rather than headings and bars."""
    named = [(s, c) for s, c in chosen if s.metrics()] or chosen
    # One line that sums up (`best model: epoch 43, Dice 0.74`) does not count what many headings do.
    alone = sum(len(s) for s, _ in named) == 1 and max(len(s) for s, _ in chosen) >= ENOUGH
    core = named if any(s.strength() for s, _ in named) and not alone else chosen
    # A bar that redraws a rate a thousand times is no record where others report losses.
    if any(s.strength() == 2 and len(s) >= ENOUGH for s, _ in core):
        core = [(s, c) for s, c in core if has_own_name(s)]
    return core


def too_coarse(epochs: Floats, *, rounded: float = 0.02, shared: float = 0.7, many: int = 10) -> bool:
    """Whether epochs do not tell rows apart: fractions of them are rounded so much that more than the share
    `rounded` of neighbours is the same, or several rows of each (`shared` of all neighbours) name one of fewer than
    `many` epochs, whose last rows alone would be too few."""
    if len(epochs) < 2:
        return False
    same = float(np.mean(np.diff(epochs) == 0))
    fractions = bool((epochs != np.floor(epochs)).any())
    return same > rounded if fractions else same > shared and distinct(epochs) < many


def by_row(shape: Shape, count: Count, epochs: float | None) -> Axis:
    """An axis of the records themselves, numbered from 0 in each run."""
    falls = np.flatnonzero(np.diff(count.values) < 0) + 1
    steps = np.arange(len(shape), dtype=np.float64)
    for fall in falls:
        steps[fall:] -= steps[fall]
    shape.steps = steps
    return Axis("row", "row", shape.rows, steps, None, epochs)


def of_other_length(one: Count, other: Count, *, apart: float = 0.1) -> bool:
    """Whether two counters start anew in each epoch, and one comes further in it than the other, by the share
    `apart`: the bars of training and of validation."""
    return bool(one.length and other.length and abs(one.length - other.length) > apart * other.length)


def comparable(one: Count, other: Count) -> bool:
    """Whether two counters of different names may count the same: neither is one of epochs, nor
    of samples, nor a number without a name."""
    return one.rank < 3 and other.rank < 3


def merge_kinds(parts: list[tuple[Shape, Count]]) -> tuple[Ints, Floats]:
    """Rows and steps of several kinds of lines in the order of the file."""
    if len(parts) == 1:
        return parts[0][0].rows, parts[0][1].values
    rows = np.concatenate([s.rows for s, _ in parts])
    order = np.argsort(rows, kind="stable")
    return rows[order], np.concatenate([c.values for _, c in parts])[order]


def goes_with(rows: Ints, steps: Floats, other_rows: Ints, other: Floats, *, same: bool) -> bool:
    """Whether two counters are the same: read in the order of the file, together they fall hardly
    more often than each does alone, and they move over the same range."""
    joined = np.concatenate([rows, other_rows])
    together = np.concatenate([steps, other])[np.argsort(joined, kind="stable")]
    falls = int((np.diff(together) < 0).sum())
    alone = int((np.diff(steps) < 0).sum()) + int((np.diff(other) < 0).sum())
    slack = 0.1 * min(len(rows), len(other_rows)) + (1.0 if same and len(other_rows) > 3 else 0.0)
    span = float(steps.max() - steps.min()) or 1.0
    near = other.max() <= steps.max() + 0.5 * span and other.min() >= steps.min() - 0.5 * span
    return falls <= alone + slack and bool(near or same)
