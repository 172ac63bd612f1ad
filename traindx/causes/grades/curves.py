"""Measures of curves and panels behind the grades; each a number in the unit of its scale, or None."""

from __future__ import annotations

import math

import numpy as np

from traindx.causes.grades.setup import Measure
from traindx.features.curve import Curve
from traindx.features.performance.level_shifts import growth, start_up
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Floats, Run

LEAST = 4  # a curve with fewer points has no shape
TINY = 1e-12  # keeps quotients finite


def loss(features: Features, least: int = LEAST) -> Curve | None:
    """The training loss, if it has at least `least` points."""
    curve = features.curve("train/loss")
    return curve if curve is not None and curve.n >= least else None


def fall_of(curve: Curve) -> float:
    """How far a curve fell to its best value."""
    return max(curve.start - curve.best, 0.0)


def loss_fall(run: Run, features: Features) -> float | None:
    curve = loss(features)
    return None if curve is None or curve.start <= 0 else (curve.start - curve.end) / curve.start


def loss_speed(run: Run, features: Features) -> float | None:
    curve = loss(features, 8)
    if curve is None or fall_of(curve) <= 4 * curve.noise / math.sqrt(curve.n):
        return None
    half = curve.start - fall_of(curve) / 2
    return float(np.argmax(curve.trend <= half)) / curve.n


def loss_leap(run: Run, features: Features) -> float | None:
    curve = loss(features)
    return None if curve is None or curve.start <= 0 else float(curve.values.max()) / curve.start


def loss_lost(run: Run, features: Features) -> float | None:
    curve = loss(features)
    if curve is None or fall_of(curve) <= 2 * curve.noise:
        return None
    return (curve.end - curve.best) / fall_of(curve)


def loss_tail(run: Run, features: Features) -> float | None:
    curve = loss(features, 12)
    if curve is None:
        return None
    quarter = 3 * curve.n // 4
    before, after = median(curve.oriented[quarter - curve.n // 8 : quarter]), curve.end
    return float(after - before) / max(fall_of(curve), curve.noise, TINY)


def guessing(run: Run, features: Features) -> float | None:
    """The loss of guessing among the classes, in nats; None for the networks of a game."""
    if features.is_game:
        return None
    classes = run.setup.number("classes")
    return math.log(classes) if classes is not None and classes > 1 else None


def loss_start(run: Run, features: Features) -> float | None:
    curve, chance = loss(features, 1), guessing(run, features)
    return None if curve is None or chance is None else curve.start / chance


def loss_end(run: Run, features: Features) -> float | None:
    curve, chance = loss(features), guessing(run, features)
    return None if curve is None or chance is None else curve.end / chance


def loss_first(run: Run, features: Features) -> float | None:
    curve = loss(features, 1)
    return None if curve is None else abs(curve.start)


def loss_last(run: Run, features: Features) -> float | None:
    curve = loss(features, 1)
    return None if curve is None else abs(curve.end)


def loss_noise(run: Run, features: Features) -> float | None:
    curve = loss(features, 8)
    return None if curve is None else curve.noise / max(fall_of(curve), TINY)


def loss_broken(
    run: Run,
    features: Features,
    *,
    early: float = threshold(0.2, "of the run", basis="convention", source="the first fifth is early"),
) -> str | None:
    """When the loss was first not finite: in the first row, early, late, or never."""
    raw = run.series.get("train/loss")
    if raw is None or len(raw) == 0:
        return None
    bad = np.flatnonzero(~np.isfinite(raw.values))
    if not len(bad):
        return "never"
    if bad[0] == 0:
        return "first-row"
    lasting = "" if not np.isfinite(raw.values[-1]) else "-passing"
    return ("early" if bad[0] < early * len(raw) else "late") + lasting


def loss_tooth(run: Run, features: Features) -> float | None:
    """How much the loss varies with the position in an epoch, relative to noise; per-step losses only."""
    curve, per = loss(features, 24), run.setup.number("steps_per_epoch")
    if curve is None or not per or per < 6 or curve.steps[-1] < 3 * per:
        return None
    late = curve.steps > per
    phase = (curve.steps[late] % per) / per
    rest = curve.oriented[late] - curve.trend[late]
    if late.sum() < 16:
        return None
    bins = [rest[(phase >= i / 4) & (phase < (i + 1) / 4)] for i in range(4)]
    if any(len(b) < 3 for b in bins):
        return None
    levels = [float(median(b)) for b in bins]
    return (max(levels) - min(levels)) / max(curve.noise, TINY)


def training_at(train: Curve, val: Curve) -> Floats:
    """The level of the training loss at the steps of validation."""
    return np.interp(val.steps, train.steps, train.trend)


def pair(features: Features) -> tuple[Curve, Curve] | None:
    train, val = loss(features), features.curve("val/loss")
    return (train, val) if train is not None and val is not None and val.n >= 2 else None


def val_first(run: Run, features: Features) -> float | None:
    both = pair(features)
    if both is None:
        return None
    level = float(training_at(*both)[0])
    return float(both[1].values[0]) / level if level > 0 else None


def val_last(run: Run, features: Features) -> float | None:
    both = pair(features)
    if both is None:
        return None
    level = float(training_at(*both)[-1])
    return both[1].end / level if level > TINY else None


def val_rise(run: Run, features: Features) -> float | None:
    curve = features.curve("val/loss")
    if curve is None or curve.n < LEAST:
        return None
    low = float(curve.oriented.min())
    return (curve.end - low) / max(float(curve.oriented[0]) - low, 0.1 * abs(low), TINY)


def val_best(run: Run, features: Features) -> float | None:
    curve = features.curve("val/loss")
    return None if curve is None or curve.n < LEAST else int(np.argmin(curve.oriented)) / (curve.n - 1)


def val_fall(run: Run, features: Features) -> float | None:
    curve = features.curve("val/loss")
    if curve is None or curve.n < LEAST or curve.values[0] <= 0:
        return None
    return float(curve.values[0] - curve.end) / float(curve.values[0])


def val_noise(run: Run, features: Features) -> float | None:
    curve = features.curve("val/loss")
    return (
        None if curve is None or curve.n < 6 else curve.noise / max(abs(float(median(curve.values))), TINY)
    )


def accuracy(features: Features) -> Floats | None:
    """Validation accuracy as shares of 1."""
    curve = features.curve("val/accuracy")
    if curve is None or curve.n < 2:
        return None
    return curve.values / 100.0 if curve.values.max() > 1.5 else curve.values


def val_accuracy(run: Run, features: Features) -> float | None:
    values = accuracy(features)
    return None if values is None else float(median(values[-max(1, len(values) // 5) :]))


def val_skill(run: Run, features: Features) -> float | None:
    values, classes = accuracy(features), run.setup.number("classes")
    if values is None or not classes or classes < 2:
        return None
    majority = run.setup.number("class_majority_share")
    chance = max(1 / classes, majority if majority is not None else 0.0)
    return (float(median(values[-max(1, len(values) // 5) :])) - chance) / max(1 - chance, TINY)


def val_still(run: Run, features: Features) -> float | None:
    values = accuracy(features)
    if values is None or len(values) < LEAST:
        return None
    return int(np.unique(values, return_counts=True)[1].max()) / len(values)


def norms(features: Features) -> Floats | None:
    curve = features.curve("grad_norm")
    return curve.values if curve is not None and curve.n >= LEAST else None


def norm_level(run: Run, features: Features) -> float | None:
    values = norms(features)
    return None if values is None else math.log10(max(float(median(values)), TINY))


def norm_change(run: Run, features: Features) -> float | None:
    values = norms(features)
    if values is None:
        return None
    part = max(1, len(values) // 10)
    ends = [max(float(median(v)), TINY) for v in (values[:part], values[-part:])]
    return math.log10(ends[1] / ends[0])


def norm_tail(run: Run, features: Features) -> float | None:
    values = norms(features)
    return None if values is None else float(values.max()) / max(float(median(values)), TINY)


def clipped(run: Run, features: Features) -> float | None:
    curve = features.curve("clip_ratio")
    return None if curve is None or curve.n < LEAST else float(median(curve.values))


def rate_shape(
    run: Run,
    features: Features,
    *,
    low: float = threshold(
        0.01, "of the peak", basis="convention", source="two decades down is almost zero"
    ),
    lower: float = threshold(0.5, "of the peak", basis="convention", source="clearly decayed"),
    jump: float = threshold(
        5.0, "x", basis="convention", source="no usual schedule rises this much in one step"
    ),
) -> str | None:
    """The shape of the learning rate: constant, warms up, decays, vanishes early, leaps."""
    curve = features.curve("lr")
    if curve is None or curve.n < LEAST or curve.values.max() <= 0:
        return None
    with np.errstate(over="ignore"):  # damaged logs divide a large negative rate by almost zero
        share = curve.values / curve.values.max()
    late = share[curve.n // 3 :]
    if (share[1:] > jump * np.maximum(share[:-1], TINY)).any():
        return "leaps"
    if late.max() < low:
        return "vanishes-early"
    if share[0] < lower:
        return "warms-up"
    return "decays" if share[-1] < lower else "constant"


def panel(run: Run, name: str) -> Floats | None:
    """Values[n, m] of a per-module signal, if any is finite."""
    kept = run.panels.get(name)
    return kept.values if kept is not None and np.isfinite(kept.values).any() else None


def update_size(run: Run, features: Features) -> float | None:
    values = panel(run, "update_ratio")
    return None if values is None else math.log10(max(float(np.nanmedian(values)), TINY))


def update_first(run: Run, features: Features) -> float | None:
    values = panel(run, "update_ratio")
    if values is None:
        return None
    early = values[: max(1, len(values) // 10)]
    early = early[np.isfinite(early)]
    return math.log10(max(float(early.max()), TINY)) if len(early) else None


def depth_slope(run: Run, features: Features) -> float | None:
    values = panel(run, "grad_norm")
    if values is None or values.shape[1] < 2:
        return None
    levels = [float(np.nanmedian(c)) for c in values.T if np.isfinite(c).any()]
    return math.log10(max(levels[0], TINY) / max(levels[-1], TINY)) if len(levels) > 1 else None


def worst_module(name: str) -> Measure:
    """The largest, over modules, of the median over the last third of the run."""

    def measure(run: Run, features: Features) -> float | None:
        values = panel(run, name)
        late = np.empty((0, 0)) if values is None else values[-max(1, len(values) // 3) :]
        return max((float(np.nanmedian(c)) for c in late.T if np.isfinite(c).any()), default=None)

    return measure


def last_module(name: str) -> Measure:
    """The median over the run of the last module's value."""

    def measure(run: Run, features: Features) -> float | None:
        values = panel(run, name)
        known = values is not None and np.isfinite(values[:, -1]).any()
        return float(np.nanmedian(values[:, -1])) if values is not None and known else None

    return measure


def weights_change(run: Run, features: Features) -> float | None:
    values = panel(run, "weight_norm")
    if values is None:
        return None
    changes = []
    for column in values.T:
        seen = column[np.isfinite(column) & (column > 0)]
        if len(seen) > 1:
            changes.append(math.log10(seen[-1] / seen[0]))
    return float(median(changes)) if changes else None


def grad_cosine(run: Run, features: Features) -> float | None:
    curve = features.curve("grad_cosine")
    return None if curve is None or curve.n < LEAST else float(median(curve.values))


def waiting(run: Run, features: Features) -> float | None:
    step, data = features.curve("time/step"), features.curve("time/data")
    if step is None or data is None or step.n < LEAST or data.n < LEAST:
        return None
    return float(median(data.values)) / max(float(median(step.values)), TINY)


def step_growth(
    run: Run,
    features: Features,
    *,
    steady: float = threshold(
        0.7, "rank correlation", basis="convention", source="of the lower envelope with time"
    ),
) -> float | None:
    """Growth of the fastest steps. At most 1 where they do not grow steadily: a busy machine is slow at
    random."""
    curve = features.curve("time/step")
    if curve is None or curve.n < 10:
        return None
    seen = growth(curve.values[start_up(curve.n, 0.05, 1) :], 10, floor=True)
    return seen.ratio if seen.correlation >= steady else min(seen.ratio, 1.0)


def memory_growth(run: Run, features: Features) -> float | None:
    """Memory at the end divided by that of the first tenth."""
    curve = features.curve("mem/host")
    if curve is None or curve.n < 10:
        return None
    part = max(2, curve.n // 10)
    return float(median(curve.values[-part:])) / max(float(median(curve.values[:part])), TINY)
