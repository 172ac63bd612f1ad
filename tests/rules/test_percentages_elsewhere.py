"""Every percentage in a message of the other rules: of a series it is computed anew, of a fact it is the fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests.rules.test_contract import RULES, cases, judged
from tests.rules.test_percentages import EXPECTED as ON_CURVES, PERCENT, curve, ends, message
from traindx.vocabulary.rule import Evidence
from traindx.vocabulary.run import Run

Naive = Callable[[Run, Evidence], list[float]]


def values(run: Run, name: str) -> np.ndarray:
    return run.series[name].values


def number(evidence: Evidence, name: str) -> float:
    found = evidence.values[name]
    assert isinstance(found, (int, float))
    return float(found)


def lr_left(run: Run, evidence: Evidence) -> list[float]:
    lr = run.series["lr"]
    at = number(evidence, "step")
    return [float(lr.values[lr.steps <= at][-1] / lr.values.max())]


def rest_of_run(run: Run, evidence: Evidence) -> list[float]:
    first, last = run.first_step or 0.0, run.last_step or 0.0
    return [1 - (number(evidence, "at") - first) / (last - first)]


def clipped(run: Run, evidence: Evidence) -> list[float]:
    if "clip_ratio" in run.series:
        return [float(np.mean(values(run, "clip_ratio") < 1))]
    return [float(np.mean(values(run, "grad_norm") > (run.setup.number("clip_norm") or np.inf)))]


def zero_norms(run: Run, evidence: Evidence) -> list[float]:
    return [float(np.mean(values(run, "grad_norm") == 0))]


def waiting(run: Run, evidence: Evidence) -> list[float]:
    data, step = (values(run, f"time/{part}") for part in ("data", "step"))
    if "share" not in evidence.values:  # stalls: those of a second and more
        return [float(data[data > 1].sum() / step[1:].sum())]
    return [float(np.median(data / np.where(np.median(data - step) > 0, data + step, step)))]


def stalls(run: Run, evidence: Evidence) -> list[float]:
    seconds = values(run, "time/step")
    slow = np.sort(seconds)[-int(number(evidence, "count")) :]
    return [float((slow - np.median(seconds)).sum() / seconds.sum())]


def busy(run: Run, evidence: Evidence) -> list[float]:
    return [float(np.median(values(run, "util/device")))]


def swing_of_gain(run: Run, evidence: Evidence) -> list[float]:
    if "amplitude" not in evidence.values:
        return []
    start, end = ends(curve(run)[1])
    amplitude = number(evidence, "amplitude")
    return [amplitude / max(start - end, amplitude)]


def before_the_drop(run: Run, evidence: Evidence) -> list[float]:
    steps, y = curve(run)
    onset = int(np.searchsorted(steps, number(evidence, "onset")))
    level, drop = y[max(onset - 5, 0) : onset + 1].mean(), y[:onset].mean() - y[-len(y) // 10 :].mean()
    flat = np.flatnonzero(np.abs(np.convolve(y[:onset], np.ones(5) / 5, "valid") - level) > drop / 3)
    return [(onset - (int(flat[-1]) + 1 if len(flat) else 0)) / len(y)]


def profile(run: Run, evidence: Evidence) -> list[float]:
    _, y = curve(run)
    epochs = run.series.get("epoch")
    per = run.setup.number("steps_per_epoch")
    place = epochs.values if epochs is not None else np.arange(len(y)) / (per or 1.0)
    later = run.series["train/loss"].steps >= (
        evidence.onset or 0.0
    )  # the first epoch is learning, not order
    y, place = y[later], place[later]
    number_of = np.floor(place).astype(int)
    rest = y - np.array([y[number_of == k].mean() for k in number_of])
    bound = 4 * 1.4826 * float(np.median(np.abs(rest - np.median(rest))))
    rest = np.clip(rest, -bound, bound)  # single outliers are no profile
    bins = ((place - number_of) * 12).astype(int)
    shape = np.array([rest[bins == b].mean() for b in bins])
    return [float(1 - np.var(rest - shape) / np.var(rest))]


def skipped(run: Run, evidence: Evidence) -> list[float]:
    found = run.series.get("skipped_steps")
    if found is None:
        return []
    steps, counts = found.steps, found.values
    counts = np.diff(counts, prepend=0) if np.all(np.diff(counts) >= 0) and counts.max() > 1 else counts
    inside = (steps >= number(evidence, "step")) & (steps <= number(evidence, "last"))
    return [float(counts[inside].mean() / max(np.median(np.diff(steps)), counts.max(), 1))]


def longer(run: Run, evidence: Evidence) -> list[float]:
    step = "time/step" if "time/step" in run.series else "rank/0/time/step"
    return [number(evidence, "seconds") / float(np.median(values(run, step)))]


def apart(run: Run, evidence: Evidence) -> list[float]:
    names = [n for n in run.series if n.rpartition("/")[2] in ("grad_norm", "weight_norm")]
    ranks = np.array([values(run, n) for n in names])
    spread = np.ptp(ranks, axis=0) / ranks.mean(axis=0)
    return [float(np.median(spread[spread > 1e-3]))] if (spread > 1e-3).any() else []


def whole_update(run: Run, evidence: Evidence) -> list[float]:
    ratio, weights = run.panels["update_ratio"], run.panels["weight_norm"]
    size = np.array([[w[weights.modules.index(m)] for m in ratio.modules] for w in weights.values])
    whole = np.sqrt(np.nansum((ratio.values * size) ** 2, axis=1) / np.nansum(size**2, axis=1))
    return [float(np.nanmedian(whole)), *whole.tolist()]


def shrunk(run: Run, evidence: Evidence) -> list[float]:
    found = run.panels["weight_norm"].values
    left = found[-1] / found[0]
    return [
        *left.tolist(),
        float(np.median(left)),
        float(np.linalg.norm(found[-1]) / np.linalg.norm(found[0])),
    ]


def column(*panels: str) -> Naive:
    """The level of the modules that a message names, at any row or over all."""

    def naive(run: Run, evidence: Evidence) -> list[float]:
        wanted = str(evidence.values.get("where", evidence.where or "")).split(", ")
        levels: list[float] = []
        for panel in (run.panels[p] for p in panels if p in run.panels):
            part = panel.values[:, [i for i, m in enumerate(panel.modules) if m in wanted]]
            levels += [*part.ravel().tolist(), *np.nanmedian(part, axis=0).tolist()]
        return levels

    return naive


def idle(run: Run, evidence: Evidence) -> list[float]:
    spent = values(run, "time/idle")
    beyond = np.maximum(spent - values(run, "time/data"), 0)
    return [float(np.median(x / values(run, "time/step"))) for x in (spent, beyond)]


def waiting_or_idle(run: Run, evidence: Evidence) -> list[float]:
    if "time/idle" in run.series:
        return idle(run, evidence)
    waited, step = (float(np.median(values(run, f"time/{part}"))) for part in ("synchronize", "step"))
    return [min(waited, step - waited) / step]


def first(run: Run, evidence: Evidence) -> list[float]:
    recorded = run.setup.number("first_step_seconds")
    seconds = [*([] if recorded is None else [recorded]), *values(run, "time/step").tolist()]
    usual = float(np.median(seconds[10:]))
    more = sum(one - usual for one in seconds[:10] if one > 2 * usual)
    return [more / sum(seconds)]


def updating(run: Run, evidence: Evidence) -> list[float]:
    own, *rest = (values(run, f"time/{part}") for part in ("optimizer", "forward", "backward"))
    return [float(np.median(own / (own + sum(rest))))]


def copying(run: Run, evidence: Evidence) -> list[float]:
    panel, step = run.panels["operator_time"], float(np.median(values(run, "time/step")))
    if "time/transfer" in run.series:
        return [float(np.median(values(run, "time/transfer"))) / step]
    names = ("aten::copy_", "aten::contiguous", "aten::clone")
    return [float(sum(panel.values[0, i] for i, m in enumerate(panel.modules) if m in names)) / step]


def starting(run: Run, evidence: Evidence) -> list[float]:
    times, calls = (run.panels[f"operator_{what}"].values[0] for what in ("time", "calls"))
    tiny = sum(t for t, c in zip(times, calls, strict=True) if t < 1e-5 * c)
    return [
        min(
            (tiny + float(np.median(values(run, "time/idle")))) / float(np.median(values(run, "time/step"))),
            1.0,
        )
    ]


def compiling(run: Run, evidence: Evidence) -> list[float]:
    first = float(run.series["calls/compile"].steps[0])
    spent, step = (run.series[f"time/{part}"] for part in ("compile", "step"))
    return [sum(spent.values[1:].tolist()) / float(step.values[step.steps > first].sum())]


def same(run: Run, evidence: Evidence) -> list[float]:
    return [float(np.mean(values(run, "train/loss") == values(run, "rank/1/train/loss")))]


SERIES: dict[str, tuple[Naive, float]] = {
    "step-compiles-again": (compiling, 0.01),
    "ranks-see-same-data": (same, 0.006),
    "quantized-inputs-clipped": (column("quant/act_clipped"), 0.006),
    "step-idles": (idle, 0.01),
    "host-waits-for-accelerator": (waiting_or_idle, 0.02),
    "first-steps-take-time": (first, 0.02),
    "optimizer-takes-time": (updating, 0.01),
    "copies-take-time": (copying, 0.01),
    "operators-are-tiny": (starting, 0.01),
    "scheduler-steps-too-often": (lr_left, 0.01),
    "learning-rate-vanishes-early": (rest_of_run, 0.01),
    "clipping-always-active": (clipped, 0.01),
    "half-precision-underflows": (zero_norms, 0.01),
    "step-waits-for-data": (waiting, 0.02),
    "step-time-outliers": (stalls, 0.06),
    "accelerator-underused": (busy, 0.01),
    "loss-oscillates": (swing_of_gain, 0.15),
    "loss-drops-late": (before_the_drop, 0.1),
    "loss-repeats-each-epoch": (profile, 0.15),
    "steps-skipped-often": (skipped, 0.15),
    "rank-straggles": (longer, 0.15),
    "ranks-disagree": (apart, 0.05),
    "relu-units-dead": (column("act_zero_fraction"), 0.006),
    "activations-saturate": (column("act_saturated_fraction"), 0.006),
    "ternary-weights-collapse": (column("quant/zero_fraction", "quant/majority"), 0.006),
    "quantized-weights-oscillate": (column("quant/flips"), 0.006),
    "quantized-weights-clipped": (column("quant/clipped"), 0.006),
    "quantized-much-worse": (column("quant/error", "quant/kept"), 0.006),
    "updates-too-large": (whole_update, 0.01),
    "weights-collapse": (shrunk, 0.001),
}


def shown_percentages(slug: str) -> Iterator[tuple[str, Run, Evidence, list[float]]]:
    """Name, run, evidence and percentages of every message of a rule on its samples."""
    rule = next(r for r in RULES if r.slug == slug)
    for name, run, fires in cases(rule):
        for evidence in judged(rule, run).evidence if fires else ():
            found = [float(p) / 100 for p in PERCENT.findall(message(rule, evidence))]
            if found:
                yield name, run, evidence, found


@pytest.mark.parametrize("slug", SERIES)
def test_is_that_of_the_series(slug: str) -> None:
    naive, within = SERIES[slug]
    compared = 0
    for name, run, evidence, found in shown_percentages(slug):
        wanted = naive(run, evidence)
        if wanted:
            assert min(abs(found[0] - w) for w in wanted) <= within, (name, found, wanted[:5])
            compared += 1
    assert compared


@pytest.mark.parametrize("slug", sorted(r.slug for r in RULES if r.slug not in {*SERIES, *ON_CURVES}))
def test_is_one_of_the_facts(slug: str) -> None:
    """What is no series is reported as it was measured: a fact, what is missing to one, or the quotient of two."""
    for name, run, evidence, found in shown_percentages(slug):
        stated = [float(v) for v in evidence.values.values() if isinstance(v, (int, float))]
        facts = [float(v) for v in facts_of(run)]
        facts += list(run_levels(run))
        counts = [f for f in facts if f >= 1][:80]
        quotients = [a / b for a in [*counts, *stated] for b in counts if b]
        known = np.array([*facts, *(1 - f for f in facts), *quotients, 1.0])
        for share in found:
            assert np.abs(known - share).min() <= 0.006, (name, share)


def facts_of(run: Run) -> Iterator[float]:
    for name in {*run.setup.facts, "parameters", "dataset_size", "batch_size", "classes"}:
        value = run.setup.number(name)
        if value is not None:
            yield value


def run_levels(run: Run) -> Iterator[float]:
    for name, found in run.series.items():
        if len(found) and "outputs" in name:
            yield from (float(v) for v in found.values)
