"""Facts that the curves tell: where the loss begins, where it sticks, whether validation ever moves.

Like those of `setup_facts`, each is a pure function of the run: True, False, or None when it cannot be told.
"""

from __future__ import annotations

import math
import re

import numpy as np

from traindx.features.curves.progress import young
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run


def tight_clip(
    run: Run,
    features: Features,
    *,
    share: float = threshold(
        0.05, "of the median norm", basis="convention", source="cuts every update twentyfold"
    ),
) -> bool | None:
    """The clip norm is far below the norm that the gradients usually have."""
    norm, curve = run.setup.number("clip_norm"), features.curve("grad_norm")
    if norm is None or norm <= 0 or curve is None or curve.n == 0:
        return None
    return bool(norm < share * float(median(curve.values)))


def starts_above_chance(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        1.5, "x ln k", basis="theory", source="a calm net starts at ln k nats on k classes"
    ),
) -> bool | None:
    """The first training loss is well above that of guessing."""
    loss, classes = features.curve("train/loss"), run.setup.number("classes")
    if loss is None or loss.n == 0 or classes is None or classes < 2:
        return None
    return bool(loss.values[0] > factor * math.log(classes))


def double_softmax_floor(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.04, "of the floor", basis="theory", source="softmax twice cannot go below ln(1+(k-1)/e)"
    ),
) -> bool | None:
    """The training loss levels at ln(1 + (k-1)/e), the least that softmax of probabilities allows."""
    loss, classes = features.curve("train/loss"), run.setup.number("classes")
    if loss is None or loss.n < 8 or classes is None or classes < 2:
        return None
    floor = math.log1p((classes - 1) / math.e)
    return bool(-near * floor / 4 <= loss.end - floor <= near * floor)


def huge_loss(
    run: Run,
    features: Features,
    *,
    above: float = threshold(
        1000.0, "loss", basis="convention", source="E[y^2] of raw targets, not a log-loss"
    ),
) -> bool | None:
    """The loss starts in the thousands, as a squared error of unscaled targets does."""
    loss = features.curve("train/loss")
    if loss is None or loss.n == 0:
        return None
    return bool(loss.values[0] > above) and run.setup.number("classes") is None


def validation_never_improves(
    run: Run,
    features: Features,
    *,
    learned: float = threshold(
        0.3, "of the first training loss", basis="convention", source="clearly more than noise"
    ),
    shared: float = threshold(
        0.1, "of training's fall", basis="convention", source="the least that would be progress"
    ),
    own: float = threshold(0.05, "of its first value", basis="convention", source="evaluation noise"),
    worse: float = threshold(
        1.25, "x training's level", basis="convention", source="else it began where training was"
    ),
    chance: float = threshold(0.9, "x ln k", basis="theory", source="guessing among k classes"),
) -> bool | None:
    """Training loss falls, and validation loss shows none of it from the first evaluation on."""
    train, val = features.curve("train/loss"), features.curve("val/loss")
    if train is None or val is None or train.n < 4 or val.n < 4 or evaluated_late(features):
        return None
    fall = train.start - train.best
    if train.start <= 0 or fall < learned * train.start:
        return None
    first, best = float(val.oriented[0]), float(val.trend.min())
    classes = run.setup.number("classes")
    beside = float(np.interp(val.steps[0], train.steps, train.trend))
    bad = first > worse * beside or (
        classes is not None and classes > 1 and best > chance * math.log(classes)
    )
    return bool(bad and best >= train.start - shared * fall and first - best < own * abs(first))


def evaluated_late(
    features: Features,
    *,
    passes: float = threshold(
        3.0, "epochs", basis="convention", source="enough to learn a small set by heart"
    ),
) -> bool:
    """Whether the first evaluation comes after so many passes over the data that overfitting may explain it."""
    val, epoch = features.curve("val/loss"), features.curve("epoch")
    if val is None or epoch is None or not val.n or not epoch.n or features.run.axis == "epoch":
        return False
    return float(np.interp(val.steps[0], epoch.steps, epoch.values)) - float(epoch.values[0]) > passes


def validation_bad_at_once(
    run: Run,
    features: Features,
    *,
    worse: float = threshold(
        4.0, "x training's level", basis="convention", source="no overfit is that quick"
    ),
    early: float = threshold(
        0.2, "of the run", basis="convention", source="the first evaluation must be early"
    ),
) -> bool | None:
    """The first validation loss is several times the training loss beside it, and never gets near."""
    train, val = features.curve("train/loss"), features.curve("val/loss")
    if train is None or val is None or train.n < 4 or val.n < 2 or evaluated_late(features):
        return None
    beside = np.interp(val.steps, train.steps, train.trend)
    if beside.min() <= 0 or val.steps[0] > train.steps[0] + early * (train.steps[-1] - train.steps[0]):
        return None
    return bool(val.values[0] > worse * beside[0] and (val.values > worse / 2 * beside).all())


def clamped_loss(run: Run, features: Features) -> bool | None:
    """The loss sat at a multiple of 87.3365, where logarithms of zero are clamped."""
    return True if any(e.code == "clamped-nan" for e in run.events) else None


def accumulation_scaled(run: Run, features: Features) -> bool | None:
    """The logged loss is as many times too large as batches are accumulated."""
    return True if any(e.code == "accumulation-scaled" for e in run.events) else None


def answers_one_class(
    run: Run,
    features: Features,
    *,
    same: float = threshold(
        0.8, "of the points", basis="convention", source="a net that learns changes its answers"
    ),
    perfect: float = threshold(
        0.98, "accuracy", basis="convention", source="a solved task is constant as well"
    ),
) -> bool | None:
    """Validation accuracy stays at one and the same value from the start: one answer for every sample."""
    accuracy = features.curve("val/accuracy")
    if accuracy is None or accuracy.n < 4 or young(run):
        return None
    values, counts = np.unique(accuracy.values, return_counts=True)
    usual = int(np.argmax(counts))
    top = 100.0 if accuracy.values.max() > 1 else 1.0
    stays = counts[usual] >= same * accuracy.n and accuracy.values[0] == values[usual]
    return bool(stays and values[usual] < perfect * top)


def ended_in_error(run: Run, features: Features) -> bool | None:
    """The log ends with an error."""
    return True if any(e.kind == "crash" for e in run.events) else None


# In errors that end a run; compiled where there is one.
LABELS = (
    r"target -?\d+ is out of bounds|device-side assert|t >= 0 && t < n_classes|label value of \S+ which is outside"
    r"|index out of range in self"
)
GRAPH = r"does not require grad and does not have a grad_fn|no gradients provided for any"
KILLED = r"\bkilled\b|sigkill|exit ?code:? (?:137|-9)\b"
COLLECTIVE = r"collective operation timeout|WorkNCCL\(.*(?:timeout|timed out|timing out)"
SCALER = r"minimum loss scale|loss scale (?:already at minimum|reached its minimum)"


def labels_out_of_range(run: Run, features: Features) -> bool | None:
    """The error that ended the run is one that a label or an index outside of its range causes."""
    return ended_with(run, LABELS)


def no_graph(run: Run, features: Features) -> bool | None:
    """The error that ended the run says that nothing leads from the loss back to a parameter."""
    return ended_with(run, GRAPH)


def killed(run: Run, features: Features) -> bool | None:
    """The system killed the process or one of its workers, as it does where the host's memory runs out."""
    return ended_with(run, KILLED)


def scale_exhausted(run: Run, features: Features) -> bool | None:
    """The loss scaler gave up: gradients overflowed at the lowest scale, too."""
    return ended_with(run, SCALER)


def collective_timeout(run: Run, features: Features) -> bool | None:
    """Processes waited for each other until they gave up."""
    return ended_with(run, COLLECTIVE)


def ended_with(run: Run, error: str) -> bool | None:
    """True where a run ended with such an error; a log without says nothing."""
    ended = (e.message for e in run.events if e.kind == "crash")
    return True if any(re.search(error, message, re.IGNORECASE) for message in ended) else None
