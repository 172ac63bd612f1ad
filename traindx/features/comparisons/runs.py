"""Several runs compared: which is best on which signal, and is the difference real.

Every run has an end level with its uncertainty (see `levels`). Two runs that share steps are compared by
their differences at those steps, which removes what they have in common (the same batches, the same
schedule). Runs that differ in a seed only form a group, and groups are compared by Welch's interval over
their members, which also covers the variation from seed to seed that one run cannot show.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.statistics.end_levels import LEAST, EndLevel, end_level, t975, tail_length, welch
from traindx.vocabulary import FACT_FIELDS, Fact, Run, direction_of

UNCOMPARED = ("nan_steps", "skipped_steps", "quant/", "rank/", "exchange/", "act_", "grad_", "epoch")
SEED = re.compile(
    r"^(?P<stem>.*?)[-_./ ]*(?:seed|rep|replicate|repeat|trial|fold|run|s)?[-_=. ]?\d+$", re.IGNORECASE
)

Basis = Literal["paired by step", "unpaired", "seeds"]
Verdict = Literal["better", "worse", "within noise", "cannot tell"]


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """Where a signal of one run ended: `end` with its standard error and the half width of its 95 %
    interval (NaN where they are unknown), the `best` level it ever had, at which step."""

    run: str
    end: float
    error: float
    half: float
    best: float
    best_step: float | None
    last_step: float | None
    points: int


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """`other` minus `best` in the signal's own unit, with a 95 % interval. `verdict` is about `best`
    ("worse" only away from the end). `at`: the step at which they were compared, when it is not
    each one's own end."""

    best: str
    other: str
    difference: float
    low: float
    high: float
    basis: Basis
    verdict: Verdict
    at: float | None = None


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """One signal over all runs that have it. `best` is a group's name, or None where no end is
    finite; `tied`: groups whose difference from the best is within the noise. `shared`: the same
    comparison at the last step that all have, where the runs are of different length."""

    signal: str
    direction: Literal["lower", "higher"]
    levels: tuple[Level, ...]
    best: str | None
    tied: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    shared: tuple[Difference, ...] = ()


class Group(msgspec.Struct, frozen=True):
    """Runs that differ in their seed only, or a single run."""

    name: str
    members: tuple[str, ...]


class SetupFact(msgspec.Struct, frozen=True):
    """A fact in which the runs' setups differ; `values` in the order of the runs, None: not known."""

    name: str
    values: tuple[Fact | None, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """`runs`: unique names in the order given."""

    runs: tuple[str, ...]
    groups: tuple[Group, ...]
    contests: tuple[Contest, ...]
    setup: tuple[SetupFact, ...]


def compare(runs: tuple[Run, ...]) -> Comparison:
    """Compare two runs or more. Signals that only one run has, or of which it is not known which way
    is better, are left out."""
    names = unique_names([run.id for run in runs])
    groups = group_runs(names, runs)
    return Comparison(
        runs=names,
        groups=groups,
        contests=tuple(contest(signal, names, groups, runs) for signal in shared_signals(runs)),
        setup=setup_differences(runs),
    )


def without_common_folder(ids: Sequence[str]) -> list[str]:
    """Names of several runs without the folder that all of them share."""
    folders = [i.split("/")[:-1] for i in ids]
    same = 0
    while len(ids) > 1 and all(len(f) > same and f[same] == folders[0][same] for f in folders):
        same += 1
    return ["/".join(i.split("/")[same:]) for i in ids]


def unique_names(ids: Sequence[str]) -> tuple[str, ...]:
    """The runs' ids without the folder they share; where several are the same, their number is added."""
    counts: dict[str, int] = {}
    names: list[str] = []
    for own in without_common_folder(ids):
        counts[own] = counts.get(own, 0) + 1
        names.append(own if counts[own] == 1 else f"{own} ({counts[own]})")
    return tuple(names)


def group_runs(names: Sequence[str], runs: Sequence[Run]) -> tuple[Group, ...]:
    """Groups of runs whose names differ in a trailing number only ("base_seed1", "base_seed2"), and
    whose known setups differ in nothing but the seed; every other run is a group by itself."""
    stems: dict[tuple[str, str], list[str]] = {}
    for name, run in zip(names, runs, strict=True):
        match = SEED.match(name) if len(name) <= 200 else None
        stem = match["stem"] if match else ""
        known = {k: v for k, v in facts(run).items() if "seed" not in k.lower()}
        key = (stem, repr(sorted(known.items()))) if stem else (name, "alone")
        stems.setdefault(key, []).append(name)
    made: list[Group] = []
    for (stem, _), members in stems.items():
        taken = stem in {g.name for g in made} or stem in names
        made.append(Group(members[0] if len(members) == 1 or taken else stem, tuple(members)))
    return tuple(made)


def shared_signals(runs: Sequence[Run]) -> tuple[str, ...]:
    """Signals with a direction that at least two runs have: validation first, then training."""
    counts: dict[str, int] = {}
    for run in runs:
        for name, series in run.series.items():
            if len(series) and not name.startswith(UNCOMPARED) and direction_of(name) != "none":
                counts[name] = counts.get(name, 0) + 1
    order = {"val": 0, "train": 1}
    return tuple(
        sorted((n for n, c in counts.items() if c > 1), key=lambda n: order.get(n.split("/")[0], 2))
    )


def contest(signal: str, names: Sequence[str], groups: Sequence[Group], runs: Sequence[Run]) -> Contest:
    """One signal: every run's end level, the best group, and what separates it from the others."""
    curves = {
        n: Curve(signal, r.series[signal]) for n, r in zip(names, runs, strict=True) if signal in r.series
    }
    levels = {name: level(name, curve) for name, curve in curves.items()}
    sign = next(iter(curves.values())).sign
    ends = {g: group_end(g, levels) for g in groups if any(m in levels for m in g.members)}
    finite = {g: end for g, end in ends.items() if np.isfinite(end)}
    direction: Literal["lower", "higher"] = "higher" if sign < 0 else "lower"
    if not finite:
        return Contest(signal=signal, direction=direction, levels=tuple(levels.values()), best=None)
    best = min(finite, key=lambda g: sign * finite[g])
    others = [g for g in ends if g is not best]
    differences = tuple(difference(best, other, curves, levels, sign) for other in others)
    return Contest(
        signal=signal,
        direction=direction,
        levels=tuple(levels.values()),
        best=best.name,
        tied=tuple(d.other for d in differences if d.verdict == "within noise"),
        differences=differences,
        shared=at_shared_end(best, others, curves, sign),
    )


def group_end(group: Group, levels: Mapping[str, Level]) -> float:
    """Mean end level of a group's members; NaN when one of them did not end finite."""
    return float(np.mean([levels[m].end for m in group.members if m in levels]))


def level(name: str, curve: Curve) -> Level:
    """A run's end level of one signal, in its own unit and orientation."""
    raw = curve.raw
    ended = np.isfinite(raw.values[-tail_length(len(raw)) :]).mean() > 0.5
    end = end_level(curve.values, degree=2) if ended else EndLevel(float("nan"), float("nan"), float("nan"))
    return Level(
        run=name,
        end=end.mean,
        error=end.error,
        half=end.half,
        best=curve.best * curve.sign if curve.n else float("nan"),
        best_step=curve.step_at(curve.best_index) if curve.n else None,
        last_step=float(raw.steps[-1]),
        points=curve.n,
    )


def difference(
    best: Group, other: Group, curves: Mapping[str, Curve], levels: Mapping[str, Level], sign: float
) -> Difference:
    """What separates `other` from `best` at their ends, with a 95 % interval and a verdict."""
    firsts = [m for m in best.members if m in curves]
    seconds = [m for m in other.members if m in curves]
    if len(firsts) > 1 and len(seconds) > 1:
        ends = [np.array([levels[m].end for m in members]) for members in (firsts, seconds)]
        return judge_difference(best.name, other.name, *welch(*ends), basis="seeds", sign=sign)
    if len(firsts) == len(seconds) == 1:
        paired = paired_difference(curves[firsts[0]], curves[seconds[0]])
        if paired is not None:
            return judge_difference(best.name, other.name, *paired, basis="paired by step", sign=sign)
    a, b = (combine_levels([levels[m] for m in members]) for members in (firsts, seconds))
    return judge_difference(
        best.name, other.name, b[0] - a[0], float(np.hypot(a[1], b[1])), basis="unpaired", sign=sign
    )


def combine_levels(levels: Sequence[Level]) -> tuple[float, float]:
    """End level and half width of one run, or of a group of seeds compared with one run (then
    that of a single further run, by the spread of the seeds)."""
    if len(levels) == 1:
        return levels[0].end, levels[0].half
    ends = np.array([level.end for level in levels])
    return float(ends.mean()), t975(len(ends) - 1) * float(ends.std(ddof=1) * np.sqrt(1 + 1 / len(ends)))


def judge_difference(
    best: str, other: str, delta: float, half: float, *, basis: Basis, sign: float, at: float | None = None
) -> Difference:
    """A difference with its verdict: `delta` plus or minus `half`."""
    if not np.isfinite(delta):
        verdict: Verdict = "better"  # the other did not end with finite values
    elif not np.isfinite(half):
        verdict = "cannot tell"
    elif abs(delta) <= half:
        verdict = "within noise"
    else:
        verdict = "better" if sign * delta > 0 else "worse"
    return Difference(
        best=best,
        other=other,
        difference=delta,
        low=delta - half,
        high=delta + half,
        basis=basis,
        verdict=verdict,
        at=at,
    )


def paired_difference(a: Curve, b: Curve, until: float = float("inf")) -> tuple[float, float] | None:
    """(mean of b minus a over the shared steps of the end, half width of its 95 % interval); None
    when they do not end together or share fewer than 6 steps there."""
    if not a.n or not b.n:
        return None
    last = min(float(a.steps[-1]), float(b.steps[-1]), until)
    whole = max(float(a.steps[-1]), float(b.steps[-1]))
    if not np.isfinite(until) and last < whole - 0.05 * max(whole - float(a.steps[0]), 0.0):
        return None
    steps, at_a, at_b = np.intersect1d(a.steps, b.steps, return_indices=True)
    delta = (b.values[at_b] - a.values[at_a])[steps <= last]
    if len(delta) < LEAST:
        return None
    level = end_level(delta, degree=1)
    return level.mean, level.half


def at_shared_end(
    best: Group, others: Sequence[Group], curves: Mapping[str, Curve], sign: float
) -> tuple[Difference, ...]:
    """Single runs of different length compared at the last step that both have: a longer run is
    often better for that alone."""
    made = []
    for other in others:
        if len(best.members) > 1 or len(other.members) > 1:
            continue
        a, b = curves[best.members[0]], curves[other.members[0]]
        if not a.n or not b.n or paired_difference(a, b) is not None:
            continue
        until = min(float(a.steps[-1]), float(b.steps[-1]))
        paired = paired_difference(a, b, until)
        if paired is not None:
            made.append(
                judge_difference(best.name, other.name, *paired, basis="paired by step", sign=sign, at=until)
            )
    return tuple(made)


def facts(run: Run) -> dict[str, Fact]:
    """All that is known about a run's setup, under one level of names."""
    own = {name: getattr(run.setup, name) for name in FACT_FIELDS}
    return {k: v for k, v in {**own, **run.setup.facts}.items() if v is not None}


def setup_differences(runs: Sequence[Run]) -> tuple[SetupFact, ...]:
    """Facts that are known for at least one run and not the same in all."""
    known = [facts(run) for run in runs]
    order = [f for f in type(runs[0].setup).__struct_fields__ if f in FACT_FIELDS] if runs else []
    names = [*order, *sorted({n for k in known for n in k} - FACT_FIELDS)]
    rows = [SetupFact(name, tuple(k.get(name) for k in known)) for name in names]
    return tuple(row for row in rows if any(a != b for a, b in pairwise(row.values)))
