"""What is known of one module of a run, and what is unusual in it, in one word and with the reason.

The limits are the thresholds of the rules, which were measured on healthy runs. Unlike a rule, a flag does
not ask whether the run learns nevertheless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from traindx.features.statistics import median
from traindx.vocabulary import Run, format_step


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Where healthy ends, each from the rule of the same meaning. `vanishing`: a gradient over that of the
    last third of the modules, from `deep` modules on. `imbalanced`: a gradient over the median module's.
    `leap`: a gradient's largest value over its median. `rows`: rows that it takes to say "never". Updates as
    a share of the weights; `grown` and `shrunk` as the last weight norm over the first. `silent`,
    `saturated`: shares of units and of pre-activations. `rank`: least effective rank. `explodes`,
    `dies_out`: spread at the start over the first module's."""

    vanishing: float
    deep: float
    imbalanced: float
    leap: float
    rows: float
    update_large: float
    update_small: float
    grown: float
    shrunk: float
    silent: float
    saturated: float
    rank: float
    explodes: float
    dies_out: float


def gradient_flags(rows: Sequence[ModuleRow], run: Run, limits: Limits) -> list[tuple[Flag, ...]]:
    """The flags of each row: broken values first, then gradients, updates, weights."""
    norms = {row.module: row.courses["grad_norm"] for row in rows if "grad_norm" in row.courses}
    living = {m: c for m, c in norms.items() if c.median > 0 and "emb" not in m.lower()}
    levels = np.array([c.median for c in living.values()])
    middle = float(median(levels)) if len(levels) else 0.0
    back = float(median(levels[-max(1, len(levels) // 3) :])) if len(levels) >= limits.deep else 0.0
    dying = bool(np.any(levels < limits.vanishing * back))
    frozen = run.setup.word("parameters_frozen_names")
    made = []
    for row in rows:
        found = [
            flag
            for flag in (flag_nonfinite(row, "its gradient"), flag_unmoving(row, frozen, limits))
            if flag
        ]
        course = living.get(row.module)
        if course is not None:
            found += compared_with_others(course, middle, back, dying, limits)
        made.append((*found, *update_flags(row, limits), *weight_flags(row, limits)))
    return made


def activation_flags(rows: Sequence[ModuleRow], limits: Limits) -> list[tuple[Flag, ...]]:
    """The flags of each row: broken values first, then what the outputs have lost, then their scale."""
    spreads = [row for row in rows if "act_std" in row.courses]
    start = spreads[0].courses["act_std"].first if spreads else 0.0
    output = spreads[-1].module if spreads else rows[-1].module
    made = []
    for row in rows:
        found = [flag for flag in (flag_nonfinite(row, "its output"),) if flag]
        found += flag_blocked(row, limits, output=row.module == output)
        spread = row.courses.get("act_std")
        if spread is not None and start > 0 and row.module != output:
            found += scale_flags(spread.first / start, limits)
        made.append(tuple(found))
    return made


def flag_nonfinite(row: ModuleRow, what: str) -> Flag | None:
    if not row.nonfinite:
        return None
    since = f"first at step {format_step(row.broke or 0.0)}" + (
        "" if row.ends_nonfinite else ", finite at the end"
    )
    return Flag(
        "not finite", f"{what} is not finite in {percent(row.nonfinite)} of the sampled rows, {since}", True
    )


def flag_unmoving(row: ModuleRow, frozen: str, limits: Limits) -> Flag | None:
    """A module without a gradient, without one any more, or one that never moves though it has one."""
    norm, update = row.courses.get("grad_norm"), row.courses.get("update_ratio")
    if norm is not None and norm.most == 0 and norm.values >= limits.rows:
        if any(name.strip().rpartition(".")[0] == row.module.lower() for name in frozen.split(",")):
            return Flag("frozen", "its parameters do not require a gradient")
        return Flag("no gradient", f"its gradient is exactly zero on all {norm.values:,} rows", grave=True)
    if norm is not None and norm.late == 0 < norm.most:
        once = f"{two_digits(norm.most)} at step {format_step(norm.most_step)}"
        why = f"its gradient, {once}, is exactly zero in the last tenth of the run"
        return Flag("died", why, grave=True)
    moves = update is None or update.most > 0 or update.values < limits.rows
    if norm is None or norm.median == 0 or moves:
        return None
    assert update is not None
    why = f"it has a gradient, and its weights are the same after each of {update.values:,} sampled steps"
    return Flag("never moves", why, grave=True)


def compared_with_others(
    course: Course, middle: float, back: float, dying: bool, limits: Limits
) -> list[Flag]:
    """A gradient compared with those of the other modules, and with itself over time. Where gradients are
    `dying` on their way back, the last modules are not reported."""
    found = []
    if back > 0 and course.median < limits.vanishing * back:
        share = f"{two_digits(course.median / back)} of that of the last modules"
        found.append(Flag("vanishing", f"its gradient is {share} (healthy: {limits.vanishing:g} and more)"))
    if not dying and course.median >= limits.imbalanced * middle > 0:
        times = f"{two_digits(course.median / middle)} times the median module's"
        found.append(Flag("imbalanced", f"its gradient is {times} (healthy: below {limits.imbalanced:,g})"))
    if course.most >= limits.leap * course.median:
        most = f"{two_digits(course.most)} at step {format_step(course.most_step)}"
        times = f"{most}, {two_digits(course.most / course.median)} times its median"
        found.append(Flag("leaps", f"its gradient reached {times} (healthy: below {limits.leap:,g} times)"))
    return found


def update_flags(row: ModuleRow, limits: Limits) -> list[Flag]:
    update = row.courses.get("update_ratio")
    if update is None or update.settled <= 0:
        return []
    change = f"a step changes its weights by {two_digits(update.settled)} of their size"
    if update.settled >= limits.update_large:
        return [Flag("large steps", f"{change} (healthy: below {limits.update_large:g}, usual: 0.001)")]
    if update.settled < limits.update_small:
        return [Flag("small steps", f"{change} (healthy: {limits.update_small:g} and more, usual: 0.001)")]
    return []


def weight_flags(row: ModuleRow, limits: Limits) -> list[Flag]:
    weight = row.courses.get("weight_norm")
    if weight is None or weight.first <= 0:
        return []
    times = weight.last / weight.first
    if times >= limits.grown:
        return [
            Flag(
                "grown",
                f"its weights grew to {two_digits(times)} times their first norm (healthy: {limits.grown:g})",
            )
        ]
    if times <= limits.shrunk:
        return [
            Flag(
                "shrunk",
                f"its weights shrank to {two_digits(times)} of their first norm (healthy: {limits.shrunk:g})",
            )
        ]
    return []


def flag_blocked(row: ModuleRow, limits: Limits, *, output: bool) -> list[Flag]:
    """What no longer gets through: silent units, saturated ones, an output that is the same for every
    input."""
    found = []
    if row.silent is not None and row.silent >= limits.silent:
        why = f"{percent(row.silent)} of its units are silent on all data (healthy: below {percent(limits.silent)})"
        found.append(Flag("silent", why, grave=row.silent >= 1))
    saturated = row.courses.get("act_saturated_fraction")
    if saturated is not None and saturated.settled >= limits.saturated and not output:
        why = f"{percent(saturated.settled)} of its pre-activations are beyond 3, where it is flat"
        found.append(Flag("saturated", f"{why} (healthy: below {percent(limits.saturated)})"))
    rank = row.courses.get("act_rank")
    if rank is not None and rank.ending < limits.rank:
        found.append(
            Flag("constant", "its output is the same for every input (effective rank 0)", grave=True)
        )
    return found


def scale_flags(times: float, limits: Limits) -> list[Flag]:
    """The spread at the start compared with the first module's (exactly zero belongs to silent units)."""
    if times >= limits.explodes:
        spread = f"at the start its spread is {two_digits(times)} times the first module's"
        return [Flag("too wide", f"{spread} (healthy: below {limits.explodes:g})")]
    if 0 < times <= limits.dies_out:
        spread = f"at the start its spread is {two_digits(times)} of the first module's"
        return [Flag("dies out", f"{spread} (healthy: above {limits.dies_out:g})")]
    return []


def percent(share: float) -> str:
    """A share in whole percent; neither 0 nor 100 for what is only close to it."""
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def two_digits(value: float) -> str:
    """Two digits, integers from a hundred on: 0.0043, 4.3e-08, 2,540, 1.2e+07."""
    return f"{value:,.0f}" if 100 <= value < 1e6 else f"{value:.2g}"


class Flag(msgspec.Struct, frozen=True):
    """A `word` for a narrow column, `why` in one clause, and whether it is `grave`: nothing of the kind is
    ever meant, or harmless."""

    word: str
    why: str
    grave: bool = False


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One signal of one module over the run, finite values only: the `first` and `last` one, medians of the
    first and last tenth of the steps and of all, `settled` after the first tenth and `ending` over the
    second half, the 5 % and 95 % quantiles, the extremes and the number of values."""

    first: float
    early: float
    median: float
    settled: float
    ending: float
    late: float
    last: float
    low: float
    high: float
    least: float
    most: float
    most_step: float
    values: int


class ModuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one module. `depth` counts from 0 in the order in which the model holds its modules;
    `courses` is keyed by signal; `nonfinite` is the share of sampled rows with values that are not finite
    (None where that was not measured), `broke` the first such step; `silent` the smallest share of silent
    units in the second half of the run; `ends_nonfinite` whether the last row is one of them."""

    module: str
    depth: int
    courses: Mapping[str, Course] = {}
    nonfinite: float | None = None
    broke: float | None = None
    ends_nonfinite: bool = False
    silent: float | None = None
    flags: tuple[Flag, ...] = ()
