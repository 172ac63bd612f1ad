"""What the experiments of a check show, as facts that rules read (pure: runs in, facts out)."""

import math
from collections.abc import Mapping

import numpy as np

from traindx.checks.catalogue import AGAIN, BLANK, FIRST, ONE_BATCH, PERMUTED
from traindx.checks.plan import PROBES
from traindx.vocabulary import Fact, Floats, Run, Series, Setup

LOSS = "train/loss"
LEAST = 5  # points in the median at the end
ZERO_FLOOR = ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
SURELY = 3.0  # standard errors subtracted from a lead
WARMING = 1.05  # times the learning rate after two thirds of the experiment: still warming up


# Facts that the probes of a live model record in the second start.
PROBED = (
    "accelerator", "bias_before_normalization", "parameters_unregistered", "parameters_shared", "leak_",
    "loss_batch_",
    "modes_", "memory_", "latency", "inference_", "label_smoothing", *(f"{probe}_not_checked" for probe in PROBES),
)  # fmt: skip


def combine_starts(runs: Mapping[str, Run], known: Mapping[str, Fact]) -> dict[str, Fact]:
    """What all starts (by their names) and the environment (`known`) show together."""
    first, found = runs[FIRST], {**known, **pace(runs[FIRST])}
    again, one = runs.get(AGAIN), runs.get(ONE_BATCH)
    if again is not None:
        found |= {n: v for n, v in again.setup.facts.items() if n.startswith(PROBED)}
        found |= compare_repeats(first, again)
        found |= resource_needs(first.setup.with_facts(found, "check"))
    if one is not None:
        found |= one_batch_facts(one, found.get("label_smoothing"))
    if BLANK in runs:
        found |= blank_batch(runs[BLANK], one)
    if PERMUTED in runs:
        found |= permuted_label_lead(first, runs[PERMUTED])
    return found


def curve(run: Run) -> Series | None:
    found = run.series.get(LOSS)
    return found if found is not None and len(found) else None


def compare_repeats(first: Run, again: Run) -> dict[str, Fact]:
    """Two starts of one script compared step by step: how many steps, from which on and how far the losses
    differ, relative to the size of the loss so far."""
    one, two = curve(first), curve(again)
    if one is None or two is None:
        return {}
    count = min(len(one), len(two))
    if not np.array_equal(one.steps[:count], two.steps[:count]):
        common, left, right = np.intersect1d(one.steps, two.steps, return_indices=True)
        a, b, steps = one.values[left], two.values[right], common
    else:
        a, b, steps = one.values[:count], two.values[:count], one.steps[:count]
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    whole = np.isfinite(a) & np.isfinite(b)
    scale = np.maximum(np.maximum.accumulate(np.where(whole, np.abs(a), 0.0)), 1e-12)
    gap = np.where(whole, np.abs(a - b) / scale, np.where(same, 0.0, 1.0))
    out: dict[str, Fact] = {
        "repeat_steps": len(a),
        "repeat_difference": float(gap.max()) if len(gap) else 0.0,
        "repeat_first_loss_difference": float(gap[0]) if len(gap) else 0.0,
    }
    if not same.all():
        out["repeat_first_difference"] = float(steps[int(np.argmin(same))])
    return out if len(a) else {}


def tail(values: Floats, share: float = 0.1) -> float:
    """The level at the end: the median of the last tenth, not finite if the last values are not."""
    last = values[-max(LEAST, int(share * len(values))) :]
    return float(np.median(last)) if np.isfinite(last).all() else math.nan


def one_batch_facts(run: Run, smoothing: Fact | None = None) -> dict[str, Fact]:
    """The result of training on one batch; `smoothing` of its labels."""
    found = curve(run)
    if found is None:
        return {}
    y = found.values
    end, steps = tail(y), len(y)
    out: dict[str, Fact] = {"one_batch_start": float(y[0]), "one_batch_end": end, "one_batch_steps": steps}
    if steps >= 3 * LEAST and math.isfinite(end):
        middle = tail(y[: 2 * steps // 3])
        out["one_batch_pace"] = (
            float((middle - end) / max(abs(middle), 1e-12)) if math.isfinite(middle) else 0.0
        )
    rate = run.series.get("lr")
    if rate is not None and len(rate) >= 3:
        out["one_batch_warms_up"] = bool(rate.values[-1] > WARMING * rate.values[2 * len(rate) // 3])
    out["one_batch_floor_is_zero"] = not smoothing and floor_is_zero(run.setup)
    return out


def floor_is_zero(setup: Setup) -> bool:
    """Whether a model that knows every answer has a loss of zero."""
    loss = setup.word("loss_name") or setup.word("loss")
    if setup.number("label_smoothing") or "+" in setup.word("loss"):
        return False
    if "binary_cross_entropy" in loss:
        return setup.flag("targets_binary") is not False
    if "cross_entropy" in loss:
        return "float" not in setup.word("loss_target_dtype")
    return loss in ZERO_FLOOR


def blank_batch(run: Run, real: Run | None = None) -> dict[str, Fact]:
    """The result of training on one batch without its inputs, and how far its losses are from those of the
    `real` inputs."""
    found = curve(run)
    if found is None:
        return {}
    out: dict[str, Fact] = {"blank_batch_end": tail(found.values), "blank_batch_steps": len(found)}
    compared = compare_repeats(real, run) if real is not None else {}
    return {**out, "blank_batch_difference": compared["repeat_difference"]} if compared else out


def permuted_label_lead(real: Run, shuffled: Run) -> dict[str, Fact]:
    """The largest lead of the real labels over the permuted ones in any tenth of the steps, with its
    standard error, and where both ended."""
    one, two = curve(real), curve(shuffled)
    if one is None or two is None:
        return {}
    count = min(len(one), len(two))
    parts = [p for p in np.array_split(np.arange(count), 10) if len(p) >= 3]
    out: dict[str, Fact] = {
        "real_end": tail(one.values[:count]),
        "permuted_end": tail(two.values[:count]),
        "real_epochs": epochs(real, count),
    }
    leads = [mean_lead(one.values[p], two.values[p]) for p in parts]
    known = [(gain, error) for gain, error in leads if math.isfinite(gain)]
    if known:
        gain, error = max(known, key=lambda pair: pair[0] - SURELY * pair[1])
        out |= {"real_advantage": gain, "real_advantage_error": error}
    return out


def mean_lead(real: Floats, shuffled: Floats) -> tuple[float, float]:
    """Difference of two means with its standard error, from differences of neighbors, so that a trend is not
    noise."""
    spread = [float(np.mean(np.diff(y) ** 2)) / 2 for y in (real, shuffled)]
    error = math.sqrt(sum(spread) / len(real))
    return float(shuffled.mean() - real.mean()), error


def epochs(run: Run, steps: int) -> float:
    """Passes over the training data in some steps; 0 where the size of the data is not known."""
    setup = run.setup
    per_epoch = setup.number("steps_per_epoch")
    if per_epoch:
        return steps / (per_epoch / max(setup.number("accumulation") or 1.0, 1.0))
    size, batch = (
        setup.number("dataset_size") or setup.number("train_samples_hashed"),
        setup.number("batch_size"),
    )
    return steps * batch / size if size and batch else 0.0


def memory_for(setup: Setup) -> tuple[float | None, str]:
    """Bytes of memory that the training of this setup may use (None where unknown), and of which device."""
    device = setup.number("accelerator_memory") if not setup.word("device").startswith("cpu") else None
    return (device, "accelerator") if device else (setup.number("host_memory"), "machine")


def resource_needs(setup: Setup) -> dict[str, Fact]:
    """What the run will need of memory and disk, from what the probes measured."""
    kinds = ("weights", "gradients", "optimizer", "activations")
    sizes = [setup.number(f"memory_{kind}") for kind in kinds]
    if None in sizes:
        return {}
    weights, _, optimizer, _ = (float(s or 0.0) for s in sizes)
    out: dict[str, Fact] = {"disk_needed": 2 * (weights + optimizer)}
    there, whose = memory_for(setup)
    if there is not None:
        peak = setup.number("accelerator_peak" if whose == "accelerator" else "host_memory_used")
        most = max(sum(float(s or 0.0) for s in sizes), peak or 0.0)
        out |= {"memory_available": there, "memory_needed": most, "memory_of": whose}
    return out


def pace(run: Run) -> dict[str, Fact]:
    """Seconds of a usual step, the share of it that is spent waiting for data, and the memory used."""
    step, data, memory = (run.series.get(name) for name in ("time/step", "time/data", "mem/host"))
    out: dict[str, Fact] = {}
    if step is not None and len(step):
        usual = float(np.nanmedian(step.values))
        out["time_step"] = usual
        if data is not None and len(data) and usual > 0:
            out["time_data_share"] = min(float(np.nanmedian(data.values)) / usual, 1.0)
    if memory is not None and len(memory):
        out["host_memory_used"] = float(np.nanmax(memory.values))
    return out
