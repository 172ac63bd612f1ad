"""What arms of an experiment are compared by, and how far a run came by it.

The order of preference: a validation metric, the validation loss, what capture itself computes of the outputs
(whatever the loss is: accuracy, share of the targets that is explained), the training loss. A signal whose meaning a
change alters is not looked at for that change. Speed and memory are compared by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal

import msgspec
import numpy as np

from traindx.features.curves.score_scales import scale_of
from traindx.lab.judge.significance import CAP, student
from traindx.vocabulary.run import Floats, Run, Series
from traindx.vocabulary.signals import direction_of
from traindx.vocabulary.trial import Objective, Side

SPEED, MEMORY = "time/step", "mem/host"
# Causes that are about something else than learning: what they are judged by.
OF_SYSTEMS: Mapping[str, tuple[str, ...]] = {
    "data-loader-bottleneck": (SPEED,),
    "step-time-creep": (SPEED,),
    "device-fallback": (SPEED,),
    "straggler-rank": (SPEED,),
    "memory-leak": ("mem/device", MEMORY),
    "out-of-memory": ("mem/device", MEMORY),
}
# What a change alters the meaning of, by the name of its intervention (docs/interventions.md tells why).
ALTERS: Mapping[str, tuple[str, ...]] = {
    "logits": ("train/loss", "val/loss", "outputs_cross_entropy"),
    "class_weights": ("train/loss", "val/loss"),
    "label_smoothing": ("train/loss",),
    "loss": ("train/loss",),
    "mode": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
    "dropout": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
    "data": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
    "drop": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
    "eval_mode": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
}
LOSSES = ("train/loss", "val/loss")
# And by the fix, where it is tried in the source.
ALTERED_BY: Mapping[str, tuple[str, ...]] = {
    "match-output-to-loss": (*LOSSES, "outputs_cross_entropy"),
    "use-matching-loss": LOSSES,
    "feed-logits-to-loss": (*LOSSES, "outputs_cross_entropy"),
    "normalize-targets": LOSSES,
    "weight-classes": LOSSES,
    "scale-accumulated-loss": ("train/loss",),
    "iterate-the-loader": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
    "drop-bad-samples": ("train/loss", "outputs_accuracy", "outputs_explained", "outputs_cross_entropy"),
}
COMPUTED = ("outputs_explained", "outputs_accuracy", "outputs_cross_entropy")
# Metrics in the order in which they speak for a model, where a script logs several.
METRICS = ("accuracy", "acc", "f1", "auc", "r2", "iou", "dice", "bleu", "psnr", "return", "reward")
LATE = 0.1  # share of a run's end whose level is taken
LATE_TRAINING = 0.2  # of a training signal, which is noisier
ERROR_FLOOR = 0.005  # of a share of errors: half a hundredth more or less is no gain
LOSS_FLOOR = 0.01  # of the usual loss: below that hundredth two losses are alike
FULL = 1.0 + 1e-9
CLOSE = math.log(1.1)  # a gain: a level that is so near to the final one counts as come to it
LOOKS = 5  # values that are to come before that: with fewer, when it came is not known
SMOOTHED = 0.05  # share of a curve's points that are put together before it is asked when it came to a level
SAMPLED = 4  # batches at the end of a run: fewer tell too little of it


def choose(
    run: Run,
    interventions: Iterable[str],
    cause: str = "",
    asked: tuple[str, str] | None = None,
    spared: tuple[str, ...] = (),
) -> Objective:
    """The objective for a change of this run. `asked`: a signal and its direction, the user's own; `spared`: what names
    of signals begin with that are not to be looked at. The signal is "" where there is nothing to compare by."""
    if asked is not None:
        return made(run, named(run, asked[0]), asked[1], "as asked for (--metric)")
    for signal in OF_SYSTEMS.get(cause, ()):
        if usable(run, signal):
            return made(run, signal, "lower", "the cause is about it")
    altered = {signal for spec in interventions for signal in meaning(spec)}
    for least in (SAMPLED, 1):  # few samples are better than nothing
        for signal, why in candidates(run):
            if signal not in altered and not signal.startswith(spared) and usable(run, signal, least):
                direction = direction_of(signal)
                return made(run, signal, "higher" if direction == "higher" else "lower", why)
    if broken(run):  # that it stays finite is a gain, whatever the loss means
        return made(run, "train/loss", "lower", "the training loss is not finite")
    return Objective(
        signal="", direction="lower", why="every signal that is there means something else under the change"
    )


def meaning(spec: str) -> tuple[str, ...]:
    """The signals whose meaning an intervention alters, or a fix that is tried in the source."""
    name, _, value = spec.partition("=")
    return ALTERED_BY.get(value, ()) if name == "source" else ALTERS.get(name, ())


def broken(run: Run) -> bool:
    """Whether the training loss ends in numbers that are not finite."""
    series = run.series.get("train/loss")
    return series is not None and len(series) > 0 and not bool(np.isfinite(series.values[-1]))


def candidates(run: Run) -> list[tuple[str, str]]:
    """Signals that tell how well a run learns, best first, with the reason."""
    held_out = [n for n in run.series if n.startswith(("val/", "test/")) and n != "val/loss"]
    higher = [n for n in held_out if direction_of(n) == "higher"]
    lower = [n for n in held_out if direction_of(n) == "lower"]
    found = [(n, "a metric on held-out data") for n in (*sorted(higher, key=standing), *sorted(lower))]
    found.append(("val/loss", "the loss on held-out data; there is no metric"))
    found += [(n, "computed from the outputs; nothing is held out") for n in COMPUTED]
    train = [n for n in run.series if n.startswith("train/") and direction_of(n) == "higher"]
    found += [(n, "a metric on training data; nothing is held out") for n in sorted(train, key=standing)]
    return [*found, ("train/loss", "the training loss at equal steps; nothing else is there")]


def standing(name: str) -> tuple[int, str]:
    """The place of a metric among others, by its name."""
    last = name.rpartition("/")[2].lower()
    return next((i for i, word in enumerate(METRICS) if word in last), len(METRICS)), name


def named(run: Run, name: str) -> str:
    """The signal that a user calls `name`: its own, or the script's."""
    own = [n for n, original in run.originals.items() if original == name]
    also = [n for n in run.series if n in (name, f"val/{name}", f"train/{name}")]
    return next(iter((*([name] if name in run.series else []), *own, *sorted(also, reverse=True))), name)


def usable(run: Run, signal: str, least: int = SAMPLED) -> bool:
    """Whether a signal has numbers; of those that are sampled now and then, `least` at the end."""
    series = run.series.get(signal)
    if series is None or not np.isfinite(series.values).any():
        return False
    return signal not in COMPUTED or len(tail(series.steps, series.values, signal)) >= least


def made(run: Run, signal: str, direction: str, why: str) -> Objective:
    """The objective with its scale, from the values that the run has of it."""
    series = run.series.get(signal)
    values = np.zeros(0) if series is None else series.values[np.isfinite(series.values)]
    higher = direction == "higher"
    scale, unit = scaled(signal, values, higher)
    return Objective(
        signal=signal, direction="higher" if higher else "lower", scale=scale, unit=unit, why=why
    )


def scaled(signal: str, values: Floats, higher: bool) -> tuple[Literal["error", "ratio", "share"], float]:
    """How two levels of a signal become a gain, and the number that goes with it, see `between`."""
    known = scale_of(signal, values)
    if higher and known is not None and known.high < math.inf:
        return "error", known.perfect
    if higher and len(values) and values.max() <= FULL:
        return "error", 1.0
    floor = (
        LOSS_FLOOR * float(np.median(values))
        if len(values) and ("loss" in signal or signal in COMPUTED)
        else 0.0
    )
    if len(values) and values.min() + floor > 0 <= values.min():
        return "ratio", floor
    return "share", float(np.ptp(values)) if len(values) and np.ptp(values) > 0 else 1.0


def level(run: Run, objective: Objective, until: float | None = None) -> float:
    """How far a run came by step `until` (None: its end): the mean over its last tenth (of a training signal
    over its last fifth; of time and memory the median of all). NaN where it has none, infinite where not finite."""
    series = run.series.get(objective.signal)
    if series is None or not len(series):
        return math.nan
    reached = len(series) if until is None else int(np.searchsorted(series.steps, until, side="right"))
    if not reached:
        return math.nan
    if objective.signal.startswith(("time/", "mem/")):
        finite = series.values[:reached][np.isfinite(series.values[:reached])]
        return float(np.median(finite)) if len(finite) else math.nan
    if objective.scale == "steps":
        return arrival(series.steps[:reached], series.values[:reached], objective)
    late = tail(series.steps[:reached], series.values[:reached], objective.signal)
    worst = -math.inf if objective.direction == "higher" else math.inf
    return float(late.mean()) if np.isfinite(late).all() else worst


def tail(steps: Floats, values: Floats, signal: str) -> Floats:
    """The values in the last part of `steps[n]`, the last one at least."""
    share = LATE if signal.startswith(("val", "test")) else LATE_TRAINING
    return values[
        min(int(np.searchsorted(steps, steps[-1] - share * (steps[-1] - steps[0]))), len(values) - 1) :
    ]


def speed(run: Run, objective: Objective) -> Objective | None:
    """The objective for two runs that end alike: the steps until the signal is as good as `run` ends. None where it is
    not known well enough when that was."""
    series, end = run.series.get(objective.signal), level(run, objective)
    if (
        series is None
        or not math.isfinite(end)
        or objective.scale == "steps"
        or objective.signal.startswith("time/")
    ):
        return None
    found = msgspec.structs.replace(
        objective,
        direction="lower",
        scale="steps",
        unit=nearly(end, objective),
        rises=objective.direction == "higher",
        why="both end alike: compared by the steps until then",
    )
    at = arrival(series.steps, series.values, found)
    return found if int(np.searchsorted(series.steps, at)) >= LOOKS else None


def nearly(end: float, objective: Objective) -> float:
    """The level that is worse than `end` by as much as counts as none."""
    if objective.scale == "error":
        return objective.unit * (
            1 - (1 - end / objective.unit + ERROR_FLOOR) * math.exp(CLOSE) + ERROR_FLOOR
        )
    sign = 1.0 if objective.direction == "lower" else -1.0
    if objective.scale == "ratio":
        return (end + objective.unit) * math.exp(sign * CLOSE) - objective.unit
    return end + sign * CLOSE * objective.unit


def arrival(steps: Floats, values: Floats, objective: Objective) -> float:
    """The step at which a curve comes to `objective.unit`, between two of its points by a straight line; its last where
    it never does. At least one step."""
    window = np.ones(max(1, int(SMOOTHED * len(values))))
    smooth = np.convolve(values, window, "valid") / len(window)
    at, sign = steps[len(window) - 1 :], 1.0 if objective.rises else -1.0
    over = np.flatnonzero(sign * (smooth - objective.unit) >= 0)
    if not len(over):
        return max(float(steps[-1]), 1.0)
    first = int(over[0])
    if not first or not math.isfinite(smooth[first - 1]):
        return max(float(at[first]), 1.0)
    share = (objective.unit - smooth[first - 1]) / (smooth[first] - smooth[first - 1])
    return max(float(at[first - 1] + share * (at[first] - at[first - 1])), 1.0)


def gain(before: float, after: float, objective: Objective) -> float:
    """ln(before / after) of what is to be small, within +-CAP: above 0 is better. NaN where one is not known."""
    if math.isnan(before) or math.isnan(after):
        return math.nan
    if not (math.isfinite(before) and math.isfinite(after)):
        return CAP * (math.isfinite(after) - math.isfinite(before))
    found = between(before, after, objective)
    return min(max(found, -CAP), CAP)


def between(before: float, after: float, objective: Objective) -> float:
    if objective.scale == "error":
        left = [max(1 - x / objective.unit, 0.0) + ERROR_FLOOR for x in (before, after)]
        return math.log(left[0] / left[1])
    if objective.scale == "steps":
        return math.log(before / after)
    sign = 1.0 if objective.direction == "lower" else -1.0
    if objective.scale == "ratio":
        floor = objective.unit
        if before + floor > 0 and after + floor > 0:
            return sign * math.log((before + floor) / (after + floor))
        return CAP * sign * float(np.sign(before - after))
    return sign * (before - after) / objective.unit


def side(values: Sequence[float]) -> Side | None:
    """The levels of an arm's seeds, together."""
    known = [v for v in values if not math.isnan(v)]
    if not known:
        return None
    interval = None
    if len(known) > 1 and all(map(math.isfinite, known)):
        half = student(0.975, len(known) - 1) * stdev(known) / math.sqrt(len(known))
        low = fmean(known) - half
        interval = (max(low, 0.0) if min(known) >= 0 else low, fmean(known) + half)  # no loss is below 0
    mean = fmean(known) if all(map(math.isfinite, known)) else next(v for v in known if not math.isfinite(v))
    return Side(mean=mean, n=len(known), interval=interval, values=tuple(known))


def spread(values: Sequence[float], objective: Objective) -> float | None:
    """The standard deviation between seeds of one arm, as a gain; None with fewer than two."""
    known = [v for v in values if math.isfinite(v)]
    if len(known) < 2:
        return None
    return stdev([gain(known[0], v, objective) for v in known])


def same(one: Run, other: Run) -> bool:
    """Whether two runs trained alike to the last bit, as far as their losses tell."""
    a, b = one.series.get("train/loss"), other.series.get("train/loss")
    return a is not None and b is not None and _equal(a, b)


def _equal(a: Series, b: Series) -> bool:
    n = min(len(a), len(b))
    return n > 0 and bool(np.array_equal(a.values[:n], b.values[:n], equal_nan=True))


def first_step(run: Run) -> float | None:
    """The step at which the best of the signals on held-out data has its first value; None where there is none."""
    found = [n for n, _ in candidates(run) if n.startswith(("val/", "test/")) and usable(run, n)]
    return float(run.series[found[0]].steps[0]) if found else None
