"""Where a log itself may be wrong: NaN printed as zero, means since the epoch's start, thinned histories.

Detectors are array functions; `suspicions` asks them about a run, `repair_run` puts right what is certain.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
import numpy as np

from traindx.features.performance.level_shifts import stretches
from traindx.features.statistics import median, robust_sigma
from traindx.vocabulary import Bools, Event, Floats, Run, Series, direction_of, series

# -log of the smallest normal float32, 1.1754944e-38: what Caffe's clamped cross-entropy gives for NaN.
CLAMPED = 87.33654475
LARGEST_WEIGHT = 100  # of a Caffe loss; weights are small integers
# Tools that keep a fixed number of points: W&B samples 500 (its API) or 1000, 1500 (its charts), TensorBoard
# 1000.
SAMPLED = frozenset({500, 1000, 1500, 5000, 10_000})


# -- arrays
# ------------------------------------------------------------------------------------------------------


def find_clamped(values: Floats) -> Bools:
    """Which of `values[n]` are a whole multiple (up to 100) of 87.3365: within 1e-5 (relative, for logs that
    print few digits) where the very same value comes twice, within 2e-6 where the factor is 1."""
    factor = np.round(np.where(np.isfinite(values), values, 0.0) / CLAMPED)
    known = (factor >= 1) & (factor <= LARGEST_WEIGHT)
    off = np.abs(np.where(known, values, 1.0) / np.where(known, factor * CLAMPED, 1.0) - 1)
    close = known & (off < 1e-5)
    _, which, counts = np.unique(values[close], return_inverse=True, return_counts=True)
    close[close] = counts[which] > 1
    return np.asarray(close | (known & (off < 2e-6) & (factor == 1)))


def frozen_ranges(values: Floats, *, least: int = 5) -> list[tuple[int, int]]:
    """Half-open ranges over which `values[n]` repeats digit for digit at least `least` times although
    neighbours hardly ever were equal before (under one pair in twenty, and at least as many rows as the
    range needs)."""
    n = len(values)
    if n < 2 * least:
        return []
    equal = np.concatenate([[False], values[1:] == values[:-1]])
    share = np.cumsum(equal) / np.maximum(np.arange(n), 1)
    found = [(a - 1, b) for a, b in stretches(equal, least - 1)]
    return [(a, b) for a, b in found if a >= least and share[a] < 0.05]


def are_running_means(values: Floats, starts: list[int]) -> bool:
    """Whether `values[n]` are means since the last of `starts` (row numbers): from row to row they change
    like 1/k (slope of log change over log k near -1), and leap at the starts. Needs three segments of ten
    rows, of which the first is not counted: there a loss falls fast anyway."""
    bounds = [*starts, len(values)]
    pieces = [values[a:b] for a, b in pairwise(bounds) if b - a >= 10 and np.all(np.isfinite(values[a:b]))][
        1:
    ]
    if len(pieces) < 2:
        return False
    slopes, leaps = [], []
    last = None
    for piece in pieces:
        change = np.abs(np.diff(piece))
        moved = change > 0
        if int(moved.sum()) < 8:
            return False
        k = np.log(np.arange(2, len(piece) + 1)[moved])
        centred = k - k.mean()
        slopes.append(float(np.dot(centred, np.log(change[moved])) / np.dot(centred, centred)))
        late = float(median(change[len(change) // 2 :]))
        if last is not None:
            leaps.append(abs(float(piece[0]) - last) > 4 * late)
        last = float(piece[-1])
    return float(median(slopes)) < -0.6 and float(np.mean(leaps)) >= 0.75


def is_thinned(steps: Floats) -> bool:
    """Whether `steps[n]` seem to be sampled from a longer history: a round number of points at uneven
    distances."""
    if len(steps) not in SAMPLED:
        return False
    gaps = np.diff(steps)
    return float(np.ptp(gaps)) > 0 and float(np.mean(gaps != median(gaps))) > 0.05


def bfloat16_grid(values: Floats, *, rounding: float = 5e-5) -> bool:
    """Whether `values[n]` all are where a number with eight bits of precision can be, within `rounding` (of
    a log with four decimals). Values whose grid is not much coarser than that are not counted; needs 20
    others, and a fifth of them at odd places of it."""
    values = np.abs(values[np.isfinite(values) & (values != 0)])
    if len(values) == 0:
        return False
    unit = np.exp2(np.floor(np.log2(values)) - 7)
    telling = unit > 20 * rounding
    values, unit = values[telling], unit[telling]
    if len(values) < 20:
        return False
    place = np.round(values / unit)
    off = np.abs(values / unit - place) * unit
    # Whole numbers, halves and quarters are on the grid too; odd places show that it is used in full.
    return float(np.mean(off <= 1.01 * rounding)) >= 0.98 and float(np.mean(place % 2)) >= 0.2


def whole_factor(ratio: float, *, tolerance: float = 0.1) -> int:
    """The integer from 2 to 64 that `ratio` is within `tolerance` (relative) of, or 0."""
    k = round(ratio) if np.isfinite(ratio) else 0
    return k if 2 <= k <= 64 and abs(ratio / k - 1) <= tolerance else 0


def not_finite_at(norm: Series, steps: Floats) -> Bools:
    """At which of `steps[n]` the norm was logged and was not finite (the last of several at one step
    counts)."""
    if len(norm) == 0:
        return np.zeros(len(steps), dtype=bool)
    at = np.maximum(np.searchsorted(norm.steps, steps, side="right") - 1, 0)
    return np.asarray((norm.steps[at] == steps) & ~np.isfinite(norm.values[at]))


def masked_by_norm(loss: Series, norm: Series) -> Bools:
    """Rows of `loss` that certainly mean NaN: exactly 0, next to a gradient norm that was logged at the same
    step and is not finite."""
    zero = np.asarray(loss.values == 0)
    zero[zero] = not_finite_at(norm, loss.steps[zero])
    return zero


def masked_by_validation(loss: Series, held: Series) -> Bools:
    """Rows of `loss` that certainly mean NaN: exactly 0 to the end after a loss that was not, while the loss of
    every evaluation from there on is not finite."""
    zero = np.asarray(loss.values == 0)
    last = int(np.flatnonzero(~zero)[-1]) if (~zero).any() else len(zero)
    zero[: last + 1] = False
    later = held.values[held.steps >= loss.steps[last + 1]] if zero.any() else held.values[:0]
    return zero & bool(len(later) and not np.isfinite(later).any())


def repeated_by_norm(loss: Series, norm: Series, *, least: int = 3) -> tuple[int, int] | None:
    """First range of rows in which `loss` repeats digit for digit, not from the very start, while the
    gradient norm is not finite: perhaps a mean that no longer takes anything in."""
    if len(loss) < 2:
        return None
    same = np.concatenate([[False], loss.values[1:] == loss.values[:-1]])
    same[same] = not_finite_at(norm, loss.steps[same])
    return next(((a - 1, b) for a, b in stretches(same, least - 1) if a > 1), None)


def drops_to_zero(loss: Series) -> int | None:
    """First of at least three final rows of exactly 0 that follow a loss of at least a tenth of its start
    without any way down; None if there are none."""
    zero = loss.values == 0
    if not len(zero) or not zero[-1] or zero.all():
        return None
    first = int(np.flatnonzero(~zero)[-1]) + 1
    sudden = loss.values[first - 1] > 0.1 * np.abs(loss.values[:first]).max()
    return first if len(zero) - first >= 3 and sudden else None


# -- runs
# --------------------------------------------------------------------------------------------------------


def losses(run: Run) -> dict[str, Series]:
    """The run's losses, of any split and part."""
    found = {n: s for n, s in run.series.items() if "loss" in n.lower() and n != "loss_scale" and len(s)}
    return {n: s for n, s in found.items() if direction_of(n) == "lower"}


def suspect(code: str, message: str, step: float | None = None) -> Event:
    return Event("log-suspect", message, step, code=code)


def filtered_nan(run: Run) -> Iterator[Event]:
    """NaN losses that the trainer left out of its mean (Hugging Face `logging_nan_inf_filter`)."""
    loss, norm = run.series.get("train/loss"), run.series.get("grad_norm")
    held = run.series.get("val/loss")
    if loss is None:
        return
    if held is not None and (masked := masked_by_validation(loss, held)).any():
        text = f"train/loss is printed as 0 in the last {int(masked.sum())} rows, but was NaN: val/loss is not finite there"
        yield suspect("nan-filtered-to-zero", text, float(loss.steps[masked][0]))
        return
    if norm is not None:
        masked = masked_by_norm(loss, norm)
        if masked.any():
            step = float(loss.steps[masked][0])
            text = f"train/loss is printed as 0 in {int(masked.sum())} rows, but was NaN: their gradient norm is not finite"
            yield suspect("nan-filtered-to-zero", text, step)
            return
        same = repeated_by_norm(loss, norm)
        if same is not None:
            text = f"train/loss repeats itself in {same[1] - same[0]} rows whose gradient norm is not finite"
            yield suspect("nan-filtered-to-zero", text, float(loss.steps[same[0]]))
            return
    first = drops_to_zero(loss)
    if first is None:
        return
    step = float(loss.steps[first])
    others = [s.values[s.steps >= step] for n, s in run.series.items() if n in ("grad_norm", "val/loss")]
    dead = all(np.all((v == 0) | ~np.isfinite(v)) for v in others)
    if dead and (others or frozen_rate(run, step)):
        yield suspect("nan-filtered-to-zero", "train/loss falls to exactly 0 in one row: perhaps NaN", step)


def frozen_rate(run: Run, step: float) -> bool:
    """Whether the learning rate moved before `step` and is constant from there on."""
    lr = run.series.get("lr")
    if lr is None:
        return False
    before, after = lr.values[lr.steps < step], lr.values[lr.steps >= step]
    return len(after) > 2 and len(before) > 2 and float(np.ptp(after)) == 0 and float(np.ptp(before)) > 0


def frozen_values(run: Run) -> Iterator[Event]:
    for name, loss in losses(run).items():
        for start, stop in frozen_ranges(loss.values):
            value = abs(float(loss.values[start]))
            # Near zero the loss itself is a multiple of what float32 can distinguish from 1.
            if (
                value <= 1e-5 * np.nanmax(np.abs(loss.values[: start + 1]))
                or find_clamped(loss.values[start:stop]).any()
            ):
                continue
            text = f"{name} repeats {loss.values[start]:g} digit for digit in {stop - start} rows"
            yield suspect("frozen-value", text, float(loss.steps[start]))
            break


def epoch_starts(run: Run, steps: Floats) -> list[int]:
    """Rows of `steps` at which a new epoch begins, from the epoch signal."""
    epoch = run.series.get("epoch")
    if epoch is None or len(epoch) < 3 or len(steps) == 0:
        return []
    at = np.clip(np.searchsorted(epoch.steps, steps, side="right") - 1, 0, len(epoch) - 1)
    number = np.nan_to_num(np.floor(epoch.values[at] + 1e-9), posinf=0.0, neginf=0.0)
    return [0, *(int(i) + 1 for i in np.flatnonzero(np.diff(number) > 0))]


def running_means(run: Run) -> Iterator[Event]:
    for name, loss in losses(run).items():
        if name.startswith("train/") and are_running_means(loss.values, epoch_starts(run, loss.steps)):
            yield suspect(
                "running-mean", f"{name} is a mean since the start of each epoch: smooth by construction"
            )
            return


def thinned_history(run: Run) -> Iterator[Event]:
    for name, signal in run.series.items():
        if is_thinned(signal.steps):
            text = f"{name} has exactly {len(signal)} points at uneven steps: a sample of a longer history"
            yield suspect("downsampled-history", text)
            return


def coarse_values(run: Run) -> Iterator[Event]:
    for name, loss in losses(run).items():
        if bfloat16_grid(loss.values[:1000]) and bfloat16_grid(loss.values):  # the first mostly suffice
            yield suspect(
                "coarse-values", f"{name} takes only values that bfloat16 has: small changes cannot show"
            )
            return


def accumulation_events(run: Run) -> Iterator[Event]:
    """A loss that is summed over the micro-batches of a step instead of averaged, from the start or from a
    resume."""
    train, val = run.series.get("train/loss"), run.series.get("val/loss")
    if train is None or len(train) < 3:
        return
    known = run.setup.accumulation
    if known and val is not None and len(val):
        at = np.clip(np.searchsorted(train.steps, val.steps[:3]), 0, len(train) - 1)
        with np.errstate(all="ignore"):
            ratio = float(median(train.values[at] / val.values[:3]))
        if whole_factor(ratio) and whole_factor(ratio / known + 1) == 2:
            text = (
                f"train/loss is {ratio:.1f} times val/loss from the start, as many as steps are accumulated"
            )
            yield suspect("accumulation-scaled", text, float(train.steps[0]))
    for event in run.events:
        if event.kind != "resume" or event.step is None:
            continue
        cut = int(np.searchsorted(train.steps, event.step))
        before, after = train.values[max(0, cut - 5) : cut], train.values[cut : cut + 5]
        if len(before) < 3 or len(after) < 3 or not np.all(np.isfinite([*before, *after])):
            continue
        low, high = sorted((float(median(before)), float(median(after))))
        steady = all(robust_sigma(side) < 0.1 * median(side) for side in (before, after))
        k = whole_factor(high / low, tolerance=0.05) if low > 0 and steady else 0
        if k:
            text = (
                f"train/loss changes by a factor of {k} at a resume: another scaling of accumulated batches?"
            )
            yield suspect("accumulation-scaled", text, event.step)


def absent(name: str, values: Floats) -> Bools:
    """Which of `values` of a signal mean "not recorded": a gradient norm, loss scale, utilization or memory
    that is 0 (or below) from the first row to the last; a model FLOPs utilization below 0 in any row."""
    if "mfu" in name.lower():
        return np.asarray(values < 0)
    if name in ("grad_norm", "loss_scale", "clip_ratio", "throughput") or name.startswith(("util/", "mem/")):
        return np.full(len(values), len(values) > 0 and bool(np.all(values <= 0)))
    return np.zeros(len(values), dtype=bool)


def flat(run: Run) -> bool:
    """Whether the training loss hardly moves at all: then gradients of exactly 0 may be real."""
    loss = run.series.get("train/loss")
    if loss is None or len(loss) < 2:
        return False
    finite = loss.values[np.isfinite(loss.values)]
    part = max(1, len(finite) // 3)
    moved = abs(float(median(finite[:part])) - float(median(finite[-part:]))) if len(finite) > 1 else np.inf
    return bool(
        moved < 0.02 * float(np.abs(finite).max(initial=0.0))
    )  # batches may scatter around one level


def absent_constants(run: Run) -> Iterator[Event]:
    for name, signal in run.series.items():
        mask = absent(name, signal.values)
        if mask.any() and not (name == "grad_norm" and flat(run)):
            text = (
                f"{name} is {signal.values[mask][0]:g} in {int(mask.sum())} rows, which means not recorded"
            )
            yield suspect("constant-means-absent", text, float(signal.steps[mask][0]))


def clamped_nan(run: Run) -> Iterator[Event]:
    for name, loss in losses(run).items():
        hit = find_clamped(loss.values)
        if hit.any():
            text = f"{name} is {loss.values[hit][0]:g} in {int(hit.sum())} rows, a multiple of -log(FLT_MIN): clamped NaN"
            yield suspect("clamped-nan", text, float(loss.steps[hit][0]))


DETECTORS: tuple[Callable[[Run], Iterator[Event]], ...] = (
    filtered_nan,
    frozen_values,
    running_means,
    thinned_history,
    coarse_values,
    accumulation_events,
    absent_constants,
    clamped_nan,
)


def suspicions(run: Run) -> tuple[Event, ...]:
    """What about this log may not be true: one event of kind "log-suspect" each, its `code` one of
    nan-filtered-to-zero, frozen-value, running-mean, downsampled-history, coarse-values,
    accumulation-scaled, constant-means-absent, clamped-nan; what a reader has reported already is not
    repeated. A norm of one rank among many cannot be recognized in a log."""
    reported = {event.code for event in run.events}
    return tuple(event for detect in DETECTORS for event in detect(run) if event.code not in reported)


def repair_run(run: Run) -> Run:
    """The run with values that certainly mean something else corrected: NaN where a loss of 0 is next to a
    gradient norm or a validation loss that is not finite, and for Caffe's clamped NaN; signals that were not
    recorded are left out. The same run where nothing is to be done."""
    changed: dict[str, Series | None] = {}
    norm, held = run.series.get("grad_norm"), run.series.get("val/loss")
    for name, loss in losses(run).items():
        gone = find_clamped(loss.values)
        if name == "train/loss" and norm is not None:
            gone |= masked_by_norm(loss, norm)
        if name == "train/loss" and held is not None:
            gone |= masked_by_validation(loss, held)
        if gone.any():
            changed[name] = series(loss.steps, np.where(gone, np.nan, loss.values), loss.times)
    for name, signal in run.series.items():
        mask = absent(name, signal.values)
        if mask.any() and not (name == "grad_norm" and flat(run)):
            kept = ~mask
            times = None if signal.times is None else signal.times[kept]
            changed[name] = series(signal.steps[kept], signal.values[kept], times) if kept.any() else None
    if not changed:
        return run
    merged = {name: changed.get(name, signal) for name, signal in run.series.items()}
    return msgspec.structs.replace(run, series={name: s for name, s in merged.items() if s is not None})
