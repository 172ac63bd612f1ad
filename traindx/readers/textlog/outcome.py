"""Events with their steps, and the tool that wrote the log, where it shows.

Of progress that is reported again and again on one pass only the end is a result. A Keras bar redraws the
running mean of the epoch, an evaluation prints `Test: [100/625]`; the last of each pass is kept."""

import re

import msgspec
import numpy as np

from traindx.features.statistics import median
from traindx.readers.textlog.axis import Axis
from traindx.readers.textlog.counting import EpochLine, epoch_column
from traindx.readers.textlog.grammar import Field
from traindx.readers.textlog.scanner import Scanner
from traindx.readers.textlog.shapes import Shape
from traindx.vocabulary import ENDINGS, Bools, Event, Floats, Ints

# An error that somebody quotes above the rows that he asks about ended them.
SAYS_ERROR = re.compile(r"Error\b|Exception\b|terminate called|Assertion|[Ww]atchdog|\b[Kk]illed\b")
PASTED = 200  # lines of a question, from the error to the log below it
CAFFE_LIMIT = 87.3365  # -log of the smallest float: what Caffe prints for a loss that is NaN
# (tool, what only its lines hold)
FRAMEWORKS = (
    ("caffe", "solver.cpp"),
    ("detectron2", "d2.utils.events"),
    ("detectron2", "detectron2"),
    ("mmengine", "Epoch(train)"),
    ("mmdetection", "mmdet"),
    ("mmocr", "mmocr - INFO"),
    ("fairseq", "num_updates"),
    ("megatron", "lm loss"),
    ("megatron", "lm-loss"),
    ("megatron", "elapsed time per iteration"),
    ("mxnet", "samples/sec\tTrain-"),
    ("mxnet", "samples/sec Train-"),
    ("xgboost", "validation_0-"),
    ("xgboost", "]\ttrain-"),
    ("xgboost", "]\teval-"),
    ("deeplearning4j", "ScoreIterationListener"),
    ("lightgbm", "training's"),
    ("catboost", "\tlearn: "),
    ("stable-baselines3", "rollout/"),
    ("dllogger", "DLL "),
    ("keras", "/step - "),
    ("maskrcnn-benchmark", "maskrcnn_benchmark"),
    ("pytorch-lightning", "v_num="),
    ("huggingface", "'learning_rate':"),
    ("huggingface", "‘learning_rate’:"),
)


def framework_of(scanner: Scanner, columns: list[str]) -> str | None:
    """The tool that a sample of the most frequent kinds of lines gives away."""
    often = sorted(scanner.variants, key=lambda v: -len(v.rows))[:12]
    for name, mark in FRAMEWORKS:
        if any(mark in v.sample for v in often) or mark in columns:
            return name
    return None


def events_of(scanner: Scanner, kept: list[Shape], axis: Axis | None) -> list[tuple[int, Event]]:
    """All events in the order of the file, with the step they happened at. An ending after which
    the same run goes on was none, and an attempt that died before the first record is a note. So is an
    error after the last planned step: of a worker that is shut down, or of what comes after training."""
    found = []
    rows = np.sort(np.concatenate([s.rows for s in kept]), kind="stable") if kept else np.empty(0, np.int64)
    for row, event in scanner.events.all():
        step = event.step
        if step is None and axis is not None and len(rows) and row >= axis.rows[0]:
            step = float(axis.at(np.array([row]))[0])
        quoted = (
            scanner.facts.asked
            and len(rows)
            and 0 < rows[0] - row <= PASTED
            and SAYS_ERROR.search(event.message)
        )
        if event.kind in ENDINGS and goes_on(row, rows, axis) and not quoted:
            event = Event("note", event.message, step, event.place, f"earlier-{event.kind}")
        elif event.kind == "crash" and is_done(row, rows, axis):
            event = Event(
                "note", f"after the last step: {event.message}", step, event.place, "after-the-end"
            )
        found.append((row, msgspec.structs.replace(event, step=step)))
    return sorted([*found, *suspects(kept)], key=lambda item: item[0])


def goes_on(row: int, rows: np.ndarray[tuple[int], np.dtype[np.int64]], axis: Axis | None) -> bool:
    """Whether records follow a line, of the same run or of the first one."""
    after = int(np.searchsorted(rows, row, side="right"))
    if after >= len(rows):
        return False
    if after == 0 or axis is None or row < axis.rows[0]:
        return True
    return bool(axis.at(rows[after : after + 1])[0] > axis.at(rows[after - 1 : after])[0])


def is_done(row: int, rows: np.ndarray[tuple[int], np.dtype[np.int64]], axis: Axis | None) -> bool:
    """Whether the last planned step has all its records before a line: as many as the step before it has."""
    if axis is None or not axis.total or not len(rows):
        return False
    steps = axis.at(rows[rows < row])
    last = axis.total - (0 if axis.steps[0] else 1)
    before = steps[steps < last]
    if len(before) == 0 or steps[-1] < last:
        return False
    return bool(np.sum(steps >= last) >= np.sum(before == before[-1]))


def suspects(kept: list[Shape]) -> list[tuple[int, Event]]:
    """Losses of exactly 87.3365, or a multiple: a NaN that Caffe clamped."""
    for shape in kept:
        for i in shape.metrics():
            name = shape.fields[i].name
            if "loss" not in name.lower() or "scale" in name.lower():
                continue
            share = np.nan_to_num(shape.data[:, i] / CAFFE_LIMIT, nan=0.0, posinf=0.0, neginf=0.0)
            hits = np.flatnonzero(
                (np.abs(share - np.round(share)) < 1e-5 * share) & (np.round(share) >= 1) & (share < 1000)
            )
            if len(hits) and (len(hits) > 1 or len(shape) < 5):
                row = int(shape.rows[hits[0]])
                step = None if shape.steps is None else float(shape.steps[hits[0]])
                text = f"{name} is {shape.data[hits[0], i]:g} = {round(share[hits[0]])} x 87.3365"
                return [
                    (
                        row,
                        Event(
                            "log-suspect",
                            f"{text}: a NaN or a saturated softmax",
                            step,
                            f"line {row}",
                            "clamped-nan",
                        ),
                    )
                ]
    return []


EPOCH = Field("epoch", "counter", 3, whole=True)


def ends_of_passes(shapes: list[Shape], epochs: EpochLine) -> tuple[list[Shape], EpochLine]:
    """The shapes with bars and evaluations cut down to the ends of their passes, and the epochs
    with those that bars without headings add."""
    bars = [s for s in shapes if any(f.kind == "within" and f.name == "bar" for f in s.fields)]
    others = [ends_of_evaluation(s) for s in shapes if not any(s is b for b in bars)]
    if not bars:
        return others, epochs
    return sorted([*others, *ends_of_bars(bars, epochs)], key=lambda s: int(s.rows[0])), epochs


def ends_of_bars(bars: list[Shape], epochs: EpochLine) -> list[Shape]:
    """Of each pass of progress bars the last row, with its epoch as a counter."""
    owner = np.concatenate([np.full(len(s), i) for i, s in enumerate(bars)])
    rows = np.concatenate([s.rows for s in bars])
    done = np.concatenate([s.data[:, bar_column(s)] for s in bars])
    whole = np.concatenate([s.data[:, bar_column(s) + 1] for s in bars])
    index = np.concatenate([np.arange(len(s)) for s in bars])
    order = np.argsort(rows, kind="stable")
    order = order[~evaluates_first(rows[order], whole[order], epochs)]
    owner, rows, done, whole, index = owner[order], rows[order], done[order], whole[order], index[order]
    named = epochs.at(rows)
    ends = pass_ends([bars[o] for o in owner], done, whole, named)
    if named is not None:
        ends &= ~evaluates_after(ends, done, whole, named)
    else:
        finished = ends & (done >= whole)
        ends = finished if finished.any() else ends
    number = named if named is not None else np.concatenate(([1.0], 1.0 + np.cumsum(ends)[:-1]))
    out = []
    for i, shape in enumerate(bars):
        chosen = ends & (owner == i)
        if chosen.any() and shape.metrics():
            out.append(with_epoch(shape.subset(index[chosen]), number[chosen]))
    return out


def evaluates_first(rows: Ints, whole: Floats, epochs: EpochLine) -> Bools:
    """Which bars are of a model that is evaluated before any is trained: they come before the first heading and
    have another length than most bars under headings."""
    early = rows < epochs.rows[0] if len(epochs.rows) else np.ones(len(rows), dtype=bool)
    return early & (whole != median(whole[~early])) if (~early).any() else np.zeros(len(rows), dtype=bool)


def evaluates_after(ends: Bools, done: Floats, whole: Floats, named: Floats) -> Bools:
    """Which ends of passes are of evaluations after a training (`model.evaluate`): where an epoch mostly has one
    pass, those that follow it under the same heading with bars of another length."""
    finished = np.flatnonzero(ends & (done >= whole))
    found = np.zeros(len(ends), dtype=bool)
    if len(finished) < 2:
        return found
    begins = np.concatenate(([True], np.diff(named[finished]) != 0))
    stretch = np.cumsum(begins) - 1
    if median(np.bincount(stretch)) > 1:
        return found
    first = finished[begins][stretch]
    found[finished[whole[finished] != whole[first]]] = True
    return found


def bar_column(shape: Shape) -> int:
    return next(i for i, f in enumerate(shape.fields) if f.kind == "within" and f.name == "bar")


def pass_ends(kinds: list[Shape], done: Floats, whole: Floats, named: Floats | None) -> Bools:
    """Whether each row is the last of its pass: the next one counts less, is of a longer bar (a download) after
    a finished one, names another epoch, or is finished like it and reports nothing new (a bar's last line may be
    printed once without and once with the validation)."""
    last = np.zeros(len(done), dtype=bool)
    last[-1:] = True
    last[:-1] = (done[1:] < done[:-1]) | ((done[:-1] >= whole[:-1]) & (whole[1:] > whole[:-1]))
    if named is not None:
        last[:-1] |= named[1:] != named[:-1]
    for i in np.flatnonzero((done[1:] == done[:-1]) & (done[1:] == whole[1:])):
        more = {f.name for f in kinds[i + 1].fields} - {f.name for f in kinds[i].fields}
        last[i] |= not more
    return last


def with_epoch(shape: Shape, epoch: Floats) -> Shape:
    """A shape whose counters are replaced by the epoch."""
    keep = [i for i, f in enumerate(shape.fields) if f.kind == "metric"]
    fields = (EPOCH, *(shape.fields[i] for i in keep))
    data = np.column_stack([epoch, shape.data[:, keep]])
    return msgspec.structs.replace(shape, fields=fields, data=data, steps=None)


def ends_of_evaluation(shape: Shape) -> Shape:
    """Progress of an evaluation (`Test: [100/625]`, `eval: batch 20/100`) cut to its last rows and
    freed of the counter; any other shape as it is."""
    inner = [
        i for i, f in enumerate(shape.fields) if f.kind == "within" or (f.kind == "counter" and f.rank == 2)
    ]
    if shape.side != "val" or not inner or epoch_column(shape) is not None or not shape.metrics():
        return shape
    if any(f.kind == "counter" and f.rank < 2 for f in shape.fields):
        return shape
    done = shape.data[:, inner[0]]
    ends: Ints = np.flatnonzero(np.append(done[1:] <= done[:-1], True))
    kept = shape.subset(ends)
    columns = kept.metrics()
    kept.fields = tuple(kept.fields[i] for i in columns)
    kept.data = kept.data[:, columns]
    return kept
