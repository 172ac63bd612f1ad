"""Groups of the held-out data before and after a fix: whether one of them gets worse while others gain."""

import math
from collections.abc import Sequence

from traindx.lab.judge.objectives import arm_levels, gain
from traindx.lab.judge.significance import MIN_EFFECT, judge
from traindx.lab.repair.bench import Arm
from traindx.lab.repair.pairs import Pair
from traindx.vocabulary.trial import Objective, Slice

PREFIX, SAMPLES, MEASURE = "slice/", "slice_samples/", "slice_measure"


def compare_groups(pairs: Sequence[Pair], min_effect: float = MIN_EFFECT) -> tuple[Slice, ...]:
    """Every group that all arms recorded, with its own verdict: `harmful` is a group that gets worse."""
    sides = [(groups_of(p.before), groups_of(p.after)) for p in pairs]
    names = [n for n in (sides[0][0] if sides else {}) if all(n in one for both in sides for one in both)]
    return tuple(
        compare_group(name, pairs, [(a[name], b[name]) for a, b in sides], min_effect) for name in names
    )


def groups_of(arm: Arm) -> dict[str, float]:
    """The level of each group of a run, in the order in which they appeared."""
    facts = {} if arm.run is None else arm.run.setup.facts
    return {n: float(v) for n, v in facts.items() if n.startswith(PREFIX) and isinstance(v, int | float)}


def compare_group(
    name: str, pairs: Sequence[Pair], levels: Sequence[tuple[float, float]], min_effect: float
) -> Slice:
    """One group over the seeds."""
    run = pairs[0].before.run
    assert run is not None
    accuracy = run.setup.facts.get(MEASURE) == "accuracy"
    objective = Objective(
        signal=name, direction="higher" if accuracy else "lower", scale="error" if accuracy else "ratio",
        unit=1.0 if accuracy else 1e-12,
    )  # fmt: skip
    gains = [gain(*both, objective) for both in levels]
    known = "accuracy" if accuracy else ""
    column, _, group = name.removeprefix(PREFIX).partition("/")
    samples = run.setup.facts.get(f"{SAMPLES}{column}/{group}")
    return Slice(
        column=column,
        group=group,
        samples=int(samples) if isinstance(samples, int | float) else 0,
        measure="accuracy" if accuracy else "mean squared error",
        before=arm_levels([a for a, _ in levels], known),
        after=arm_levels([b for _, b in levels], known),
        verdict=judge([g for g in gains if not math.isnan(g)], min_effect=min_effect).verdict,
    )


def notes(found: Sequence[Slice], columns: Sequence[str]) -> list[str]:
    """Groups that get worse, and columns without recorded groups."""
    paying = [f"{s.column} {s.group}" for s in found if s.verdict == "harmful"]
    unseen = [c for c in columns if c not in {s.column for s in found}]
    lines = [f"worse with the fix: {', '.join(paying)} (--slices)"] if paying else []
    if unseen:
        lines.append(
            f"--slices {', '.join(unseen)}: no such groups were recorded (give a key of the batch, a "
            "column's number or "
            "`target`; they are seen where a loss is computed on held-out data)"
        )
    return lines
