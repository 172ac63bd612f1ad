"""Which kinds of lines are the record of training, and which are options, code or prose."""

import msgspec
import numpy as np

from traindx.features.statistics import distinct
from traindx.readers.names.aliases import role_of
from traindx.readers.textlog.axis import Axis, intervals
from traindx.readers.textlog.counting import Count
from traindx.readers.textlog.grammar import COUNTING
from traindx.readers.textlog.shapes import Shape

ONE_EACH = 1.5  # rows between two step lines, on average, that a record without a step may have
MOST_STRETCHES = 0.5  # of those between two step lines, in which losses without a step come
FEW = 40  # lines with numbers in a text that counts as a pasted snippet
CLASSES = frozenset({"class", "cls", "category", "label"})
LEAST = 3  # classes that a table lists


def select(shapes: list[Shape], counts: list[Count | None], axis: Axis | None) -> list[Shape]:
    """The kinds of lines to keep, every one with its steps set."""
    shapes = [
        s if s.closing and logged_elsewhere(s, shapes) else msgspec.structs.replace(s, closing=False)
        for s in shapes
    ]
    shapes = [s if not lists_classes(s) else msgspec.structs.replace(s, closing=True) for s in shapes]
    if axis is None:
        return without_axis(shapes)
    stepped = [s for s in shapes if s.steps is not None and s.metrics() and not s.closing]
    names = {s.fields[i].name for s in stepped if len(s) > 1 for i in s.metrics()}
    short = sum(len(s) for s in shapes) <= FEW
    kept = [
        s
        for s in stepped
        if len(s) > 1
        or s.strength() == 2
        or names & {s.fields[i].name for i in s.metrics()}
        or (short and s.strength() and len(s.metrics()) > 2 and np.isin(s.rows, axis.rows).all())
    ]
    for shape, count in zip(shapes, counts, strict=True):
        if shape.steps is None and shape.metrics() and not shape.closing and belongs(shape, count, axis):
            shape.steps = axis.at(shape.rows, late=shape.late or comes_first(shape, axis))
            rename_duplicates(shape, kept)
            kept.append(shape)
    if not any(holds_loss(s) for s in kept):
        for shape in shapes:
            if shape.steps is None and holds_loss(shape) and comes_throughout(shape, axis):
                shape.steps = axis.spread(shape.rows)
                kept.append(shape)
    return by_rank(kept)


def comes_first(shape: Shape, axis: Axis) -> bool:
    """Whether the lines of a kind come before the line that counts them: the first of all does, and none is last."""
    return len(shape) > 1 and bool(shape.rows[0] < axis.rows[0] and shape.rows[-1] < axis.rows[-1])


def holds_loss(shape: Shape) -> bool:
    """Whether a kind of line reports the loss of the training."""
    names = (shape.fields[i].name for i in shape.metrics())
    return not shape.closing and any(role_of(name).signal == "train/loss" for name in names)


def comes_throughout(shape: Shape, axis: Axis) -> bool:
    """Whether a kind of line without a counter comes in most of the stretches between lines with one, and nowhere
    else: the batches of its epochs."""
    occupied, _ = intervals(axis.rows, shape.rows)
    first = int((shape.rows < axis.rows[0]).sum())
    whole = len(shape) / (occupied or 1)
    counts = any(f.kind in COUNTING for f in shape.fields)
    return (
        shape.side != "val"
        and not counts
        and occupied >= MOST_STRETCHES * len(axis.rows)
        and first <= 2 * whole
    )


def lists_classes(shape: Shape) -> bool:
    """Whether lines are the rows of a table of scores, one for each class (`class [7], IoU: 0.41`), and not moments."""
    found = (i for i in shape.metrics() if shape.fields[i].whole and shape.fields[i].name.lower() in CLASSES)
    column = next(found, None)
    if column is None or len(shape) < LEAST:
        return False
    change = np.diff(shape.data[:, column])
    return bool(np.isin(change, (1.0, -shape.data[:, column].max() + shape.data[:, column].min())).all())


def logged_elsewhere(shape: Shape, shapes: list[Shape]) -> bool:
    """Whether lines that sum up say what others say row by row; where only the sums of each epoch are there
    (`Averaged stats: loss: 0.31`), they are the record."""
    own = {shape.fields[i].name.rpartition("/")[2] for i in shape.metrics()}
    names = {s.fields[i].name.rpartition("/")[2] for s in shapes if not s.closing for i in s.metrics()}
    return len(shape) < 2 or bool(own & names) or not any_metric_varies(shape)


def by_rank(kept: list[Shape]) -> list[Shape]:
    """Where several processes print the same records, the first one's keep their names and those
    of the others are put under `rank/<i>/`."""
    first: dict[str, int] = {}
    for shape in kept:
        for i in shape.metrics():
            name = shape.fields[i].name
            first[name] = min(first.get(name, shape.rank), shape.rank)
    for shape in kept:
        if shape.rank >= 0 and any(first[shape.fields[i].name] < shape.rank for i in shape.metrics()):
            shape.fields = tuple(
                f._replace(name=f"rank/{shape.rank}/{f.name}")
                if f.kind == "metric" and f.name and first[f.name] < shape.rank
                else f
                for f in shape.fields
            )
    return kept


def belongs(shape: Shape, count: Count | None, axis: Axis) -> bool:
    """Whether lines without a step of the axis belong to its record: they are between step
    lines, about one each time, and know a metric's name or come regularly. Options that are
    printed at the start of each of several runs do neither."""
    if count is not None and count.kind == "global" and count.label != "row":
        return False
    if shape.late:
        return True
    occupied, each = intervals(axis.rows, shape.rows)
    outside = int((shape.rows < axis.rows[0]).sum())
    if not occupied or each > ONE_EACH or outside > max(1, 0.2 * len(shape)):
        return False
    if len(shape) == 1:
        return shape.strength() == 2 and (shape.side == "val" or len(axis.rows) <= FEW)
    often = occupied >= 0.05 * len(axis.rows) or len(shape) >= 20
    if shape.strength() == 0:
        return len(shape) >= 5 and occupied >= 0.2 * len(axis.rows)
    return often or any_metric_varies(shape)


def rename_duplicates(shape: Shape, kept: list[Shape]) -> None:
    """Give another name to a metric that is logged with one of the same name at the same steps
    (Caffe's `Train net output #0: loss` and the smoothed loss): its own words before it."""
    own = {shape.fields[i].name for i in shape.metrics()}
    for other in kept:
        both = own & {other.fields[i].name for i in other.metrics()}
        if not both or shape.steps is None or other.steps is None:
            continue
        if np.isin(shape.steps, other.steps).mean() >= 0.5:
            prefix = shape.lead or "other"
            shape.fields = tuple(
                f._replace(name=f"{prefix}/{f.name}") if f.name in both else f for f in shape.fields
            )
            shape.units |= {f"{prefix}/{n}": u for n, u in shape.units.items() if n in both}
            return


def without_axis(shapes: list[Shape]) -> list[Shape]:
    """Records that count nothing: their rows are their steps. What is repeated with changing
    values is kept; of what is not, only a short text."""
    strong = [s for s in shapes if s.strength() > 0 and not s.closing]
    short = sum(len(s) for s in shapes) <= FEW
    kept = [s for s in strong if (len(s) > 1 and any_metric_varies(s)) or (short and s.strength() > 0)]
    if not any(s.strength() == 2 for s in kept) and not short:
        kept = [s for s in kept if len(s) >= 3]
    if all(is_option(s.fields[i].name) for s in kept for i in s.metrics()):
        return []  # a learning rate or a batch size alone is no record
    most = max((len(s) for s in kept), default=0)
    leader = next((s for s in kept if len(s) == most), None)
    for shape in kept:
        assert leader is not None
        place = np.clip(np.searchsorted(leader.rows, shape.rows, side="right") - 1, 0, None)
        alone = distinct(place) < len(place)
        shape.steps = np.arange(len(shape), dtype=np.float64) if alone else place.astype(np.float64)
    return kept


def is_option(name: str) -> bool:
    return role_of(name).signal.split("/")[0] in ("lr", "batch_size")


def any_metric_varies(shape: Shape) -> bool:
    """Whether any of its metrics ever changes."""
    values = shape.data[:, shape.metrics()]
    return bool((values != values[0]).any()) or not np.isfinite(values).all()
