"""Measures of curves and panels behind the grades; each a number in the unit of its scale, or None."""

import math
from collections.abc import Callable

import numpy as np

from traindx.causes.grades.setup import Measure
from traindx.features.comparisons.outputs_of_loss import summed_losses
from traindx.features.curve import Curve
from traindx.features.performance.level_shifts import growth, start_up
from traindx.features.shared import Features, favours_rare_classes
from traindx.features.statistics import median
from traindx.vocabulary import Floats, Run, threshold

CurveMeasure = Callable[[Curve], float | None]
NumberMeasure = Callable[[Run, Features], float | None]
LEAST = 4  # a curve with fewer points has no shape
TINY = 1e-12  # keeps quotients finite


def curve_of(features: Features, name: str, least: int = LEAST) -> Curve | None:
    """The curve of a signal, if it has at least `least` points; not the loss of an agent, which is no score."""
    if name == "train/loss" and features.is_reinforcement:
        return None
    curve = features.curve(name)
    return curve if curve is not None and curve.n >= least else None


def of_curve(name: str, least: int = LEAST) -> Callable[[CurveMeasure], NumberMeasure]:
    """Turns a measure of one curve into one of the run; None where the curve has too few points."""

    def decorate(measure: CurveMeasure) -> NumberMeasure:
        def measure_run(run: Run, features: Features) -> float | None:
            curve = curve_of(features, name, least)
            return None if curve is None else measure(curve)

        return measure_run

    return decorate


def typical(name: str) -> Measure:
    """The median of a curve."""
    return of_curve(name)(lambda curve: float(median(curve.values)))


def fall_of(curve: Curve) -> float:
    """How far a curve fell to its best value."""
    return max(curve.start - curve.best, 0.0)


@of_curve("train/loss")
def loss_fall(curve: Curve) -> float | None:
    return (curve.start - curve.end) / curve.start if curve.start > 0 else None


@of_curve("train/loss", 8)
def loss_speed(curve: Curve) -> float | None:
    if fall_of(curve) <= 4 * curve.noise / math.sqrt(curve.n):
        return None
    return float(np.argmax(curve.trend <= curve.start - fall_of(curve) / 2)) / curve.n


@of_curve("train/loss")
def loss_leap(curve: Curve) -> float | None:
    return float(curve.values.max()) / curve.start if curve.start > 0 else None


@of_curve("train/loss")
def loss_lost(curve: Curve) -> float | None:
    return None if fall_of(curve) <= 2 * curve.noise else (curve.end - curve.best) / fall_of(curve)


@of_curve("train/loss", 12)
def loss_tail(curve: Curve) -> float:
    quarter = 3 * curve.n // 4
    before, after = median(curve.as_loss[quarter - curve.n // 8 : quarter]), curve.end
    return float(after - before) / max(fall_of(curve), curve.noise, TINY)


def guessing(run: Run, features: Features) -> float | None:
    """The loss of guessing among the classes, in nats, for as many losses as it is the sum of; None for the
    networks of a game."""
    if features.is_game:
        return None
    classes = run.setup.number("classes")
    return summed_losses(features) * math.log(classes) if classes is not None and classes > 1 else None


def loss_start(run: Run, features: Features) -> float | None:
    curve, chance = curve_of(features, "train/loss", 1), guessing(run, features)
    return None if curve is None or chance is None else curve.start / chance


def loss_end(run: Run, features: Features) -> float | None:
    curve, chance = curve_of(features, "train/loss"), guessing(run, features)
    return None if curve is None or chance is None else curve.end / chance


@of_curve("train/loss", 1)
def loss_first(curve: Curve) -> float:
    return abs(curve.start)


@of_curve("train/loss", 1)
def loss_last(curve: Curve) -> float:
    return abs(curve.end)


@of_curve("train/loss", 8)
def loss_noise(curve: Curve) -> float:
    return curve.noise / max(fall_of(curve), TINY)


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
    curve, per = curve_of(features, "train/loss", 24), run.setup.number("steps_per_epoch")
    if curve is None or not per or per < 6 or curve.steps[-1] < 3 * per:
        return None
    late = curve.steps > per
    phase = (curve.steps[late] % per) / per
    rest = curve.as_loss[late] - curve.trend[late]
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
    train, val = curve_of(features, "train/loss"), curve_of(features, "val/loss", 2)
    return None if train is None or val is None else (train, val)


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


@of_curve("val/loss")
def val_rise(curve: Curve) -> float:
    low = float(curve.as_loss.min())
    return (curve.end - low) / max(float(curve.as_loss[0]) - low, 0.1 * abs(low), TINY)


@of_curve("val/loss")
def val_best(curve: Curve) -> float:
    return int(np.argmin(curve.as_loss)) / (curve.n - 1)


@of_curve("val/loss")
def val_fall(curve: Curve) -> float | None:
    first = float(curve.values[0])
    return float(curve.values[0] - curve.end) / first if first > 0 else None


@of_curve("val/loss", 6)
def val_noise(curve: Curve) -> float:
    return curve.noise / max(abs(float(median(curve.values))), TINY)


def accuracies(curve: Curve) -> Floats:
    """Accuracies as shares of 1; logs have them in percent, too."""
    return curve.values / 100.0 if curve.values.max() > 1.5 else curve.values


@of_curve("val/accuracy", 2)
def val_accuracy(curve: Curve) -> float:
    return float(median(accuracies(curve)[-max(1, curve.n // 5) :]))


def val_skill(run: Run, features: Features) -> float | None:
    level, classes = val_accuracy(run, features), run.setup.number("classes")
    if level is None or not classes or classes < 2:
        return None
    chance = max(1 / classes, run.setup.number("class_majority_share") or 0.0)
    if level < chance and favours_rare_classes(run):
        return None
    return (level - chance) / max(1 - chance, TINY)


@of_curve("val/accuracy")
def val_still(curve: Curve) -> float:
    return int(np.unique(accuracies(curve), return_counts=True)[1].max()) / curve.n


@of_curve("grad_norm")
def norm_level(curve: Curve) -> float:
    return math.log10(max(float(median(curve.values)), TINY))


@of_curve("grad_norm")
def norm_change(curve: Curve) -> float:
    part = max(1, curve.n // 10)
    start, end = (max(float(median(v)), TINY) for v in (curve.values[:part], curve.values[-part:]))
    return math.log10(end / start)


@of_curve("grad_norm")
def norm_tail(curve: Curve) -> float:
    return float(curve.values.max()) / max(float(median(curve.values)), TINY)


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
    seen = growth(curve.values[start_up(curve.n, 0.05) :], 10, floor=True)
    return seen.ratio if seen.correlation >= steady else min(seen.ratio, 1.0)


@of_curve("mem/host", 10)
def memory_growth(curve: Curve) -> float:
    """Memory at the end divided by that of the first tenth."""
    part = max(2, curve.n // 10)
    return float(median(curve.values[-part:])) / max(float(median(curve.values[:part])), TINY)
