"""What arms of an experiment are compared by, and what level a run reached.

The order of preference: a validation metric, the validation loss, what capture itself computes from the
outputs (whatever the loss is: accuracy, share of explained variance), the training loss. A signal whose
meaning a change alters is not used for that change. Speed and memory have separate objectives."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal

import msgspec
import numpy as np

from traindx.features.curves.score_scales import scale_of
from traindx.lab.judge.significance import CAP, student
from traindx.vocabulary import Floats, Run, direction_of
from traindx.vocabulary.trial import Objective, Side

SPEED, MEMORY = "time/step", "mem/host"
# What to judge by where the cause does not concern learning.
OF_SYSTEMS: Mapping[str, tuple[str, ...]] = {
    "data-loader-bottleneck": (SPEED,),
    "step-time-creep": (SPEED,),
    "device-fallback": (SPEED,),
    "straggler-rank": (SPEED,),
    "memory-leak": ("mem/device", MEMORY),
    "out-of-memory": ("mem/device", MEMORY),
}
# Signals whose meaning a change alters, by the name of its intervention (docs/interventions.md says why).
COMPUTED = ("outputs_explained", "outputs_accuracy", "outputs_cross_entropy")
BALANCED = "outputs_balanced_accuracy"
ON_BATCHES = ("train/loss", *COMPUTED, BALANCED)  # of what the model answers in training
ALTERS: Mapping[str, tuple[str, ...]] = {
    "logits": ("train/loss", "val/loss", "outputs_cross_entropy"),
    "class_weights": ("train/loss", "val/loss"),
    "label_smoothing": ("train/loss",),
    "loss": ("train/loss",),
    "mode": ON_BATCHES,
    "dropout": ON_BATCHES,
    "data": ON_BATCHES,
    "drop": ON_BATCHES,
    "eval_mode": ON_BATCHES,
}
LOSSES = ("train/loss", "val/loss")
# The same by fix, for those tried in the source.
ALTERED_BY: Mapping[str, tuple[str, ...]] = {
    "match-output-to-loss": (*LOSSES, "outputs_cross_entropy"),
    "use-matching-loss": LOSSES,
    "feed-logits-to-loss": (*LOSSES, "outputs_cross_entropy"),
    "normalize-targets": LOSSES,
    "weight-classes": LOSSES,
    "scale-accumulated-loss": ("train/loss",),
    "iterate-the-loader": ON_BATCHES,
    "drop-bad-samples": ON_BATCHES,
}
OF_OUTPUTS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy")
# Metrics in order of preference, for scripts that log several.
METRICS = ("accuracy", "acc", "f1", "auc", "r2", "iou", "dice", "bleu", "psnr", "return", "reward")
# Words in the names of metrics that a rare class counts in, best first: accuracy says little about it.
OF_CLASSES = (
    "balanced",
    "bal_acc",
    "bacc",
    "macro",
    "f1",
    "mcc",
    "kappa",
    "auprc",
    "auc",
    "recall",
    "sensitivity",
    "dice",
    "iou",
)
LATE = 0.1  # share of a run's end whose level is taken
LATE_TRAINING = 0.2  # of a training signal, which is noisier
LATE_BALANCED = 0.5  # of a recall, which a batch has few samples of the rare classes for
ERROR_FLOOR = 0.005  # of an error rate: half a percent point more or less is no gain
LOSS_FLOOR = 0.01  # of the usual loss: two losses below a hundredth of it count as equal
FULL = 1.0 + 1e-9
CLOSE = math.log(1.1)  # a gain: a level this near to the final one has reached it
EARLIER = 5  # values before that point; with fewer the point is uncertain
SMOOTHED = 0.05  # share of a curve's points that are averaged before a level counts as reached
SAMPLED = 4  # batches at the end of a run; fewer say too little about it


def choose(
    run: Run,
    interventions: Iterable[str],
    cause: str = "",
    asked: tuple[str, str] | None = None,
    spared: tuple[str, ...] = (),
) -> Objective:
    """The objective for a change of this run. `asked`: a signal and its direction, chosen by the user;
    `spared`: prefixes of signals that must not be used. The signal is "" where nothing can be compared."""
    if asked is not None:
        return objective_of(run, signal_named(run, asked[0]), asked[1], "as asked for (--metric)")
    for signal in OF_SYSTEMS.get(cause, ()):
        if has_values(run, signal):
            return objective_of(run, signal, "lower", "the suspected cause is about it")
    altered = {signal for spec in interventions for signal in altered_by(spec, run)}
    for least in (SAMPLED, 1):  # few samples are better than none
        for signal, why in [
            *(rare_class_signals(run) if cause == "class-imbalance" else []),
            *candidates(run),
        ]:
            if signal not in altered and not signal.startswith(spared) and has_values(run, signal, least):
                direction = direction_of(signal)
                return objective_of(run, signal, "higher" if direction == "higher" else "lower", why)
    if ends_not_finite(run):  # staying finite is a gain, whatever the loss means
        return objective_of(run, "train/loss", "lower", "the training loss is not finite")
    return Objective(
        signal="", direction="lower", why="the change alters the meaning of every recorded signal"
    )


def altered_by(spec: str, run: Run) -> tuple[str, ...]:
    """The signals whose meaning an intervention, or a fix tried in the source, alters in this run."""
    name, _, value = spec.partition("=")
    if value == "match-output-to-loss" and run.setup.loss in OF_OUTPUTS:
        return ()  # another activation, and the same loss of what the model returns
    return ALTERED_BY.get(value, ()) if name == "source" else ALTERS.get(name, ())


def ends_not_finite(run: Run) -> bool:
    """Whether the training loss ends in numbers that are not finite."""
    series = run.series.get("train/loss")
    return series is not None and len(series) > 0 and not bool(np.isfinite(series.values[-1]))


def candidates(run: Run) -> list[tuple[str, str]]:
    """Signals that show how well a run learns, best first, with the reason."""
    held_out = [n for n in run.series if n.startswith(("val/", "test/")) and n != "val/loss"]
    higher = [n for n in held_out if direction_of(n) == "higher"]
    lower = [n for n in held_out if direction_of(n) == "lower"]
    found = [(n, "a metric on held-out data") for n in (*sorted(higher, key=metric_rank), *sorted(lower))]
    found.append(("val/loss", "the loss on held-out data; no metric is logged"))
    found += [(n, "computed from the outputs; there is no validation set") for n in COMPUTED]
    train = [n for n in run.series if n.startswith("train/") and direction_of(n) == "higher"]
    found += [
        (n, "a metric on training data; there is no validation set") for n in sorted(train, key=metric_rank)
    ]
    return [*found, ("train/loss", "the training loss; nothing else is recorded")]


def rare_class_signals(run: Run) -> list[tuple[str, str]]:
    """Signals that a rare class counts in, best first, with the reason."""
    named = [
        (word, n)
        for n in run.series
        if n.startswith(("val/", "test/"))
        for word in OF_CLASSES
        if word in n.lower()
    ]
    held_out = [n for _, n in sorted(named, key=lambda one: (OF_CLASSES.index(one[0]), one[1]))]
    why = "the classes are imbalanced, which accuracy does not show"
    return [(n, why) for n in (*held_out, BALANCED) if direction_of(n) == "higher"]


def other_objectives(run: Run, interventions: Iterable[str], signal: str) -> list[Objective]:
    """The held-out metrics and losses, without `signal`, whose meaning a change does not alter."""
    altered = {name for spec in interventions for name in altered_by(spec, run)} | {signal}
    held_out = [n for n, _ in candidates(run) if n.startswith(("val/", "test/")) and n not in altered]
    return [objective_of(run, n, direction_of(n), "") for n in held_out if has_values(run, n)]


def metric_rank(name: str) -> tuple[int, str]:
    """The rank of a metric among others, by its name."""
    last = name.rpartition("/")[2].lower()
    return next((i for i, word in enumerate(METRICS) if word in last), len(METRICS)), name


def signal_named(run: Run, name: str) -> str:
    """The signal that a user calls `name`: our name for it, or the script's."""
    own = [n for n, original in run.originals.items() if original == name]
    also = [n for n in run.series if n in (name, f"val/{name}", f"train/{name}")]
    return next(iter((*([name] if name in run.series else []), *own, *sorted(also, reverse=True))), name)


def has_values(run: Run, signal: str, least: int = SAMPLED) -> bool:
    """Whether a signal has finite values; of those that capture samples, at least `least` at the end."""
    series = run.series.get(signal)
    if series is None or not np.isfinite(series.values).any():
        return False
    return signal not in ON_BATCHES[1:] or len(tail(series.steps, series.values, signal)) >= least


def objective_of(run: Run, signal: str, direction: str, why: str) -> Objective:
    """The objective with its scale, from the values that the run has of it."""
    series = run.series.get(signal)
    values = np.zeros(0) if series is None else series.values[np.isfinite(series.values)]
    higher = direction == "higher"
    scale, unit = gain_scale(signal, values, higher)
    return Objective(
        signal=signal, direction="higher" if higher else "lower", scale=scale, unit=unit, why=why
    )


def gain_scale(
    signal: str, values: Floats, higher: bool
) -> tuple[Literal["error", "ratio", "share"], float]:
    """How two levels of a signal become a gain, and the number that belongs to it, see `gain_between`."""
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
    """The level that a run reached by step `until` (None: its end): the mean over its last tenth (of a
    training signal over its last fifth; of time and memory the median of all). NaN without values,
    infinite where not finite."""
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
    if objective.signal == BALANCED:
        late = late[np.isfinite(late)]  # a batch of a single class has none
    worst = -math.inf if objective.direction == "higher" else math.inf
    return float(late.mean()) if np.isfinite(late).all() else worst


def tail(steps: Floats, values: Floats, signal: str) -> Floats:
    """The values in the last part of `steps[n]`, at least the last one."""
    share = LATE if signal.startswith(("val", "test")) else LATE_TRAINING
    share = LATE_BALANCED if signal == BALANCED else share
    return values[
        min(int(np.searchsorted(steps, steps[-1] - share * (steps[-1] - steps[0]))), len(values) - 1) :
    ]


def speed_objective(run: Run, objective: Objective) -> Objective | None:
    """The objective for two runs that reach the same end: the steps until the signal is as good as at the
    end of `run`. None where that step is too uncertain."""
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
        unit=level_near(end, objective),
        rises=objective.direction == "higher",
        why="both reach the same end: compared by the steps that it takes",
    )
    at = arrival(series.steps, series.values, found)
    return found if int(np.searchsorted(series.steps, at)) >= EARLIER else None


def level_near(end: float, objective: Objective) -> float:
    """The level that is worse than `end` by just as much as still counts as equal."""
    if objective.scale == "error":
        return objective.unit * (
            1 - (1 - end / objective.unit + ERROR_FLOOR) * math.exp(CLOSE) + ERROR_FLOOR
        )
    sign = 1.0 if objective.direction == "lower" else -1.0
    if objective.scale == "ratio":
        return (end + objective.unit) * math.exp(sign * CLOSE) - objective.unit
    return end + sign * CLOSE * objective.unit


def arrival(steps: Floats, values: Floats, objective: Objective) -> float:
    """The step at which a curve reaches `objective.unit`, interpolated between its points; the last step
    where it never does. At least 1."""
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
    """ln(before / after) of a quantity that should be small, within +-CAP: above 0 is better. NaN where one
    is unknown."""
    if math.isnan(before) or math.isnan(after):
        return math.nan
    if not (math.isfinite(before) and math.isfinite(after)):
        return CAP * (math.isfinite(after) - math.isfinite(before))
    return min(max(gain_between(before, after, objective), -CAP), CAP)


def gain_between(before: float, after: float, objective: Objective) -> float:
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


def arm_levels(values: Sequence[float], signal: str = "") -> Side | None:
    """The levels of an arm's seeds, together. The interval stays within the range of the signal."""
    known = [v for v in values if not math.isnan(v)]
    if not known:
        return None
    interval = None
    if len(known) > 1 and all(map(math.isfinite, known)):
        half = student(0.975, len(known) - 1) * stdev(known) / math.sqrt(len(known))
        scale = scale_of(signal, np.array(known))
        low, high = (-math.inf, math.inf) if scale is None else (scale.low, scale.high)
        low = max(low, 0.0) if min(known) >= 0 else low  # a loss is never below 0
        interval = max(fmean(known) - half, low), min(fmean(known) + half, high)
    mean = fmean(known) if all(map(math.isfinite, known)) else next(v for v in known if not math.isfinite(v))
    return Side(mean=mean, n=len(known), interval=interval, values=tuple(known))


def spread(values: Sequence[float], objective: Objective) -> float | None:
    """The standard deviation between seeds of one arm, as a gain; None with fewer than two."""
    known = [v for v in values if math.isfinite(v)]
    return None if len(known) < 2 else stdev([gain(known[0], v, objective) for v in known])


def trained_identically(one: Run, other: Run) -> bool:
    """Whether two runs trained identically to the last bit, as far as their losses show."""
    a, b = one.series.get("train/loss"), other.series.get("train/loss")
    if a is None or b is None:
        return False
    n = min(len(a), len(b))
    return n > 0 and bool(np.array_equal(a.values[:n], b.values[:n], equal_nan=True))


def first_step(run: Run) -> float | None:
    """The step of the first value of the best held-out signal. None without one."""
    found = [n for n, _ in candidates(run) if n.startswith(("val/", "test/")) and has_values(run, n)]
    return float(run.series[found[0]].steps[0]) if found else None
