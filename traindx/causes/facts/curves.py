"""Facts about curves and events: where the loss starts, where it stops, whether validation ever improves.

As in `facts.setup`, each is a pure function of the run: True, False, or None when the run does not show
it.
"""

import math
import re

import numpy as np

from traindx.causes.facts.setup import FactCheck
from traindx.features.curves.progress import is_too_short, zero_is_unknown
from traindx.features.curves.score_scales import late_skills
from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Run, threshold

WRONG_ANSWER = (16.118, 15.424, 15.333, 15.249)  # -ln of the least probability, by how it is rounded


def tight_clip(
    run: Run,
    features: Features,
    *,
    share: float = threshold(
        0.05, "of the median norm", basis="convention", source="makes every update 20 times smaller"
    ),
) -> bool | None:
    """The clip norm is far below the usual norm of the gradients."""
    norm, curve = run.setup.number("clip_norm"), features.curve("grad_norm")
    if norm is None or norm <= 0 or curve is None or curve.n == 0:
        return None
    return bool(norm < share * float(median(curve.values)))


def starts_above_chance(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        1.5, "x ln k", basis="theory", source="an untrained net starts at ln k for k classes"
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
    """The training loss levels off at ln(1 + (k-1)/e), the minimum for a softmax of probabilities."""
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
    """The loss starts in the thousands, as a squared error of unscaled targets does. None for a loss whose zero
    is not known: a likelihood of many numbers is as large."""
    loss = features.curve("train/loss")
    if loss is None or loss.n == 0 or features.is_reinforcement or zero_is_unknown(run):
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
        0.1, "of training's fall", basis="convention", source="less would not be progress"
    ),
    own: float = threshold(0.05, "of its first value", basis="convention", source="evaluation noise"),
    worse: float = threshold(
        1.25, "x training's level", basis="convention", source="otherwise it started at training's level"
    ),
    chance: float = threshold(0.9, "x ln k", basis="theory", source="guessing among k classes"),
) -> bool | None:
    """Training loss falls, and validation loss does not follow from the first evaluation on. None for boosted
    trees: their first round has fitted all samples, and deep ones overfit from then on."""
    train, val = features.curve("train/loss"), features.curve("val/loss")
    if train is None or val is None or train.n < 4 or val.n < 4 or evaluated_late(features) or run.boosted:
        return None
    fall = train.start - train.best
    if train.start <= 0 or fall < learned * train.start:
        return None
    first, best = float(val.as_loss[0]), float(val.trend.min())
    classes = run.setup.number("classes")
    level = float(np.interp(val.steps[0], train.steps, train.trend))
    bad = first > worse * level or (
        classes is not None and classes > 1 and best > chance * math.log(classes)
    )
    unmoved = best >= train.start - shared * fall and first - best < own * abs(first)
    return bool(bad and unmoved and not scores_well(features))


def scores_well(
    features: Features,
    *,
    useful: float = threshold(
        0.6, "of the way to perfect", basis="convention", source="most answers on new samples are right"
    ),
) -> bool:
    """Whether every validation score is useful: then validation samples are not prepared differently."""
    return min(late_skills(features, "val/"), default=0.0) >= useful


def evaluated_late(
    features: Features,
    *,
    passes: float = threshold(
        3.0, "epochs", basis="convention", source="enough to memorize a small data set"
    ),
) -> bool:
    """Whether so many epochs pass before the first evaluation that overfitting may explain it, or the log does
    not show the start of the run."""
    if any(event.code == "late-start" for event in features.run.events):
        return True
    val, epoch = features.curve("val/loss"), features.curve("epoch")
    if val is None or epoch is None or not val.n or not epoch.n or features.run.axis == "epoch":
        return False
    return float(np.interp(val.steps[0], epoch.steps, epoch.values)) - float(epoch.values[0]) > passes


def validation_bad_at_once(
    run: Run,
    features: Features,
    *,
    worse: float = threshold(
        4.0, "x training's level", basis="convention", source="overfitting is not that fast"
    ),
    early: float = threshold(
        0.2, "of the run", basis="convention", source="the first evaluation must be early"
    ),
) -> bool | None:
    """The first validation loss is several times the training loss at that step, and never gets near it. Not known of
    boosted trees: the first deep tree can overfit, and trees do not depend on how a feature is scaled."""
    train, val = features.curve("train/loss"), features.curve("val/loss")
    if train is None or val is None or train.n < 4 or val.n < 2 or evaluated_late(features) or run.boosted:
        return None
    level = np.interp(val.steps, train.steps, train.trend)
    if level.min() <= 0 or val.steps[0] > train.steps[0] + early * (train.steps[-1] - train.steps[0]):
        return None
    apart = val.values[0] > worse * level[0] and (val.values > worse / 2 * level).all()
    return bool(apart and not scores_well(features))


def constant_accuracy(
    run: Run,
    features: Features,
    *,
    same: float = threshold(
        0.8, "of the points", basis="convention", source="a net that learns changes its predictions"
    ),
) -> float | None:
    """The share of right answers that validation keeps from the start; NaN if it changes, None if too little is
    known."""
    accuracy = features.curve("val/accuracy")
    if accuracy is None or accuracy.n < 4 or is_too_short(run):
        return None
    values, counts = np.unique(accuracy.values, return_counts=True)
    usual = int(np.argmax(counts))
    top = 100.0 if accuracy.values.max() > 1 else 1.0
    stays = counts[usual] >= same * accuracy.n and accuracy.values[0] == values[usual]
    return float(values[usual]) / top if stays else math.nan


def answers_one_class(
    run: Run,
    features: Features,
    *,
    perfect: float = threshold(0.98, "accuracy", basis="convention", source="a solved task is constant too"),
) -> bool | None:
    """Validation accuracy keeps one value from the start: the same class for every sample."""
    share = constant_accuracy(run, features)
    return None if share is None else share < perfect


def answers_rare_class(
    run: Run,
    features: Features,
    *,
    rare: float = threshold(
        0.3, "accuracy", basis="convention", source="the rest is more than twice as frequent"
    ),
) -> bool | None:
    """Validation accuracy keeps one value that is too low for the share of a class that outweighs the others."""
    share = constant_accuracy(run, features)
    return None if share is None else share < rare


def clamped_loss(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.004, "of the ratio", basis="theory", source="two decimals of an accuracy of 0.1"
    ),
    rows: float = threshold(3, "rows", basis="convention", source="two may agree by chance"),
) -> bool | None:
    """The loss is what clamped probabilities of 0 give: a multiple of 87.3365 (Caffe), or one number for each wrong
    answer (Keras clips at 1e-7, so that a loss is 16.118 times the share of errors, 15.249 where 1 - 1e-7 is
    rounded)."""
    if any(e.code == "clamped-nan" for e in run.events):
        return True
    loss, accuracy = features.curve("train/loss"), features.curve("train/accuracy")
    if loss is None or accuracy is None or loss.n < rows or loss.n != accuracy.n:
        return None
    if accuracy.values.max() >= 1:
        return None
    each = loss.values / (1 - accuracy.values)
    return True if any((np.abs(each / one - 1) < near).all() for one in WRONG_ANSWER) else None


def event(field: str, value: str) -> FactCheck:
    """Whether the log has an event of this kind or code; a log without one shows nothing."""
    return lambda run, features: True if any(getattr(e, field) == value for e in run.events) else None


def ended_with(error: str) -> FactCheck:
    """Whether an error that matches ended the run; a log without one shows nothing."""

    def check(run: Run, features: Features) -> bool | None:
        errors = "\n".join(e.message for e in run.events if e.kind == "crash")
        return True if re.search(error, errors, re.IGNORECASE) else None

    return check
