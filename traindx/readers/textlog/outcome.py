"""Events with their steps, and the tool that wrote the log, where it shows."""

from __future__ import annotations

import msgspec
import numpy as np

from traindx.readers.textlog.axis import Axis
from traindx.readers.textlog.scanner import Scanner
from traindx.readers.textlog.shapes import Shape
from traindx.vocabulary.run import ENDINGS, Event

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
    the same run goes on was none, and an attempt that died before the first record is a note."""
    found = []
    rows = np.sort(np.concatenate([s.rows for s in kept]), kind="stable") if kept else np.empty(0, np.int64)
    for row, event in scanner.events.all():
        step = event.step
        if step is None and axis is not None and len(rows) and row >= axis.rows[0]:
            step = float(axis.at(np.array([row]))[0])
        if event.kind in ENDINGS and goes_on(row, rows, axis):
            event = Event("note", event.message, step, event.place, f"earlier-{event.kind}")
        found.append((row, msgspec.structs.replace(event, step=step)))
    return sorted([*found, *suspects(kept)], key=lambda item: item[0])


def goes_on(row: int, rows: np.ndarray[tuple[int], np.dtype[np.int64]], axis: Axis | None) -> bool:
    """Whether records follow a line, of the same run or of the first one."""
    after = int(np.searchsorted(rows, row, side="right"))
    if after >= len(rows):
        return False
    if after == 0 or axis is None:
        return True
    return bool(axis.at(rows[after : after + 1])[0] > axis.at(rows[after - 1 : after])[0])


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
