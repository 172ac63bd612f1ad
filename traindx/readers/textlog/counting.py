"""What the counters of one kind of line count: steps over the run, epochs, or steps within one."""

from typing import Literal, NamedTuple

import numpy as np

from traindx.features.statistics import median
from traindx.readers.assembly.plausible_values import LAST_STEP
from traindx.readers.textlog.shapes import Shape
from traindx.vocabulary import Floats, Ints

CountKind = Literal["global", "inner", "epoch"]


class Count(NamedTuple):
    """`values[n]`: the step of each row, `label`: what is counted ("step", "iter", "epoch"; all
    that was unrolled over epochs is "inner"), `total`: where it is planned to end, None when the
    log does not say, `epochs`: the planned number of epochs, `length`: of an epoch, where a counter starts anew
    in each."""

    label: str
    kind: CountKind
    values: Floats
    total: float | None = None
    epochs: float | None = None
    rank: int = 9
    length: float | None = None


class EpochLine(NamedTuple):
    """Every place at which the log names the epoch: `rows[n]` ascending, `values[n]`."""

    rows: Ints
    values: Floats

    @property
    def base(self) -> float:
        """Number of the first epoch: 0 when any line says 0, else 1."""
        return 0.0 if len(self.values) and self.values.min() < 1 else 1.0

    def at(self, rows: Ints) -> Floats | None:
        """The epoch named last at or before each row; None when some row comes before any."""
        index = np.searchsorted(self.rows, rows, side="right") - 1
        return None if not len(self.rows) or (index < 0).any() else self.values[index]


def epoch_column(shape: Shape) -> int | None:
    """The field that counts epochs, spelled out where `ep` counts episodes; of two nameless counters
    (`[0/300][0/1251]`) the first."""
    named = [i for i, f in enumerate(shape.fields) if f.kind == "counter" and f.rank == 3]
    named.sort(key=lambda i: len(shape.fields[i].name) < 3)
    loose = [i for i, f in enumerate(shape.fields) if f.kind == "within"]
    return named[0] if named else (loose[0] if len(loose) > 1 else None)


def epoch_line(shapes: list[Shape]) -> EpochLine:
    """Whole epoch numbers of all lines that have one; fractional epochs say nothing of passes."""
    rows, values = [], []
    for shape in shapes:
        column = epoch_column(shape)
        if column is not None and is_whole(shape.data[:, column]):
            rows.append(shape.rows)
            values.append(shape.data[:, column])
    if not rows:
        return EpochLine(np.empty(0, np.int64), np.empty(0))
    joined = np.concatenate(rows)
    order = np.argsort(joined, kind="stable")
    return EpochLine(joined[order], np.concatenate(values)[order])


def is_whole(values: Floats) -> bool:
    return bool((np.abs(values) < LAST_STEP).all() and (values == np.floor(values)).all())


def count_of(shape: Shape, epochs: EpochLine) -> Count | None:
    """The step of every row of a kind of line, from its own counters and the epochs that the
    lines around it name; None when it has no counter that moves."""
    epoch = epoch_column(shape)
    others = [
        i
        for i, f in enumerate(shape.fields)
        if f.kind in ("counter", "within") and i != epoch and counts(shape, i)
    ]
    best = min(others, key=lambda i: shape.fields[i].rank, default=-1)
    if best < 0 or (epoch is not None and only_epochs_go_on(shape, epoch, best)):
        if epoch is None or not counts(shape, epoch):
            return None
        total = total_of(shape, epoch)
        return Count("epoch", "epoch", shape.data[:, epoch], total, total, 3)
    values, field = shape.data[:, best], shape.fields[best]
    total = total_of(shape, best)
    planned = None if epoch is None else total_of(shape, epoch)
    if (
        field.kind == "within"
        and len(values) < 3
        and len(values) < len(epochs.rows)
        and (values == total).all()
    ):
        return None  # the ends of bars, a kind of their own because something is missing in them
    if field.rank > 0:
        of = epoch_of_rows(shape, epoch, best, total, epochs)
        if of is not None:
            length = total or float(values.max() + usual_distance(values))
            end = planned * length if planned else None
            steps = mend_epoch_ends(
                (of - epochs.base) * length + values, of, (of - epochs.base + 1) * length
            )
            return Count("inner", "inner", steps, end, planned, 2, length)
    if field.rank >= 5 and len(values) > 2 and np.mean(np.diff(values) < 0) > 0.3:
        return None
    if field.kind == "within" and len(values) > 2 and np.mean(values == total) > 0.5:
        return None  # bars of which the end is left, in a log that names no epochs
    return Count(
        field.name or ("row" if field.rank > 2 else "count"), "global", values, total, planned, field.rank
    )


BACK = 0.5  # of the rows fall back, above which a counter is no place within something longer


def only_epochs_go_on(shape: Shape, epoch: int, best: int) -> bool:
    """Whether a counter falls back again and again, only where the epoch rises, and each row has an epoch of its
    own: a loop that prints every few epochs, with the place in its data set."""
    falls, rises = np.diff(shape.data[:, best]) < 0, np.diff(shape.data[:, epoch])
    return bool(np.sum(falls) > 1 and (rises > 0).all() and np.mean(falls) <= BACK)


def mend_epoch_ends(steps: Floats, of: Floats, ends: Floats) -> Floats:
    """Steps that fall within an epoch set to its end: some loops count the samples of the last, smaller
    batch wrongly (`batch * len(X)`)."""
    falls = np.flatnonzero((np.diff(steps) < 0) & (np.diff(of) == 0)) + 1
    steps[falls] = ends[falls]
    return steps


def counts(shape: Shape, column: int) -> bool:
    """Whether a counter is one: finite, never negative, and not the same all the time."""
    values = shape.data[:, column]
    if not (values < LAST_STEP).all() or values.min() < 0:
        return False
    return len(values) < 3 or bool(np.ptp(values) > 0)


def total_of(shape: Shape, column: int) -> float | None:
    """The number after the slash of `125/3242`."""
    after = column + 1
    if after < len(shape.fields) and shape.fields[after].kind == "total":
        total = float(median(shape.data[:, after]))
        return total if 0 < total < LAST_STEP else None
    return None


def is_plan(
    total: float,
    *,
    digits: int = 1000,
    least: float = 5000,
) -> bool:
    """Whether `iter: 2650/160000` counts over the whole run although the line names an epoch, too: whoever plans a run
    takes a round number of steps, and few data sets have a round number of batches."""
    return total >= least and total % digits == 0


def usual_distance(values: Floats) -> float:
    """The usual distance between two counts."""
    rises = np.diff(values)
    rises = rises[rises > 0]
    return float(median(rises)) if len(rises) else 1.0


def epoch_of_rows(
    shape: Shape, epoch: int | None, best: int, total: float | None, epochs: EpochLine
) -> Floats | None:
    """The epoch of every row when the counter `best` starts anew in each; None when it counts
    over the whole run."""
    values = shape.data[:, best]
    loose = shape.fields[best].kind == "within" or shape.fields[best].rank == 2
    falls = np.diff(values) < 0
    given = None
    if epoch is not None and is_whole(shape.data[:, epoch]):
        given = shape.data[:, epoch]
    elif epoch is None:
        given = epochs.at(shape.rows)
    if given is not None:
        rises = np.diff(given) > 0
        if rises.any():
            return given if np.mean(falls[rises]) > 0.5 else None
        of_epoch = total is not None and epoch is not None and not is_plan(total)
        return given if loose or of_epoch else None
    if epoch is None and total and falls.any() and median(values[:-1][falls]) >= 0.5 * total:
        return epochs.base + np.concatenate(([0.0], np.cumsum(falls)))
    return None
