"""Arms in pairs: gains of a change over what it builds on, seed by seed, and the trial that they make."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from traindx.capture.interventions import catalogue
from traindx.lab.judge.objectives import arm_levels, gain, level, spread, trained_identically
from traindx.lab.judge.significance import CAP, Judged, judge
from traindx.lab.plan import MARK
from traindx.lab.repair.bench import Arm
from traindx.vocabulary import Run
from traindx.vocabulary.trial import Objective, Trial

# Interventions that act on gradients or on the step: the first loss is computed before them.
FROM_THE_STEP = {one.name for one in catalogue() if one.stage in ("gradients", "settings", "step")} | {
    "zero_grad"
}
SAME = 1e-5  # relative: the same numbers, added in another order


class Pair(NamedTuple):
    """Two arms of one seed, with the objective's level of each by the last step that both reached (by the end of
    each, where a batch has another size, so that both have seen the same samples, or where one is shorter or longer), and
    the gain."""

    before: Arm
    after: Arm
    levels: tuple[float, float]
    gain: float


def pair_arms(before: Arm, after: Arm, objective: Objective) -> Pair:
    """Compare two arms. One that fails where the other does not has lost. Where both fail, what they reached
    counts."""
    if before.run is None or after.run is None:
        known = CAP * ((after.run is not None) - (before.run is not None))
        return Pair(before, after, (float("nan"), float("nan")), known)
    ends = (before.last, after.last)
    added = set(after.interventions) - set(before.interventions)
    if not any(spec.removeprefix(MARK).startswith(("batch=", "stop=", "steps=")) for spec in added):
        ends = (min(ends), min(ends))
    levels = level(before.run, objective, ends[0]), level(after.run, objective, ends[1])
    if before.ok != after.ok:
        return Pair(before, after, levels, CAP if after.ok else -CAP)
    if (
        ends[0] == ends[1]
        and trained_identically(before.run, after.run)
        and not objective.signal.startswith(("val", "test", "time", "mem"))
    ):
        return Pair(before, after, levels, 0.0)
    return Pair(before, after, levels, gain(*levels, objective))


def same_start(pairs: Sequence[Pair]) -> bool:
    """Whether a seed determines the script: a change that acts from the first step on leaves the first loss
    as it is. True where no pair can show it."""
    for pair in pairs:
        added = set(pair.after.interventions) - set(pair.before.interventions)
        if all(spec.partition("=")[0] in FROM_THE_STEP for spec in added):
            one, other = first_loss(pair.before.run), first_loss(pair.after.run)
            both = one is not None and other is not None
            if both and not np.allclose(np.array(one), np.array(other), rtol=SAME, atol=0, equal_nan=True):
                return False
    return True


def first_loss(run: Run | None) -> tuple[float, float] | None:
    """The first training loss, with its step; None where there is none."""
    losses = None if run is None else run.series.get("train/loss")
    return None if losses is None or not len(losses) else (float(losses.steps[0]), float(losses.values[0]))


def noise_of(arms: Sequence[Arm], objective: Objective) -> float | None:
    """The spread between seeds, as a gain, from arms that differ in nothing else."""
    found = [spread([level(arm.run, objective) for arm in arms if arm.run is not None], objective)]
    return next((x for x in found if x is not None), None)


def level_signal(objective: Objective | None) -> str:
    """The signal whose levels are compared; "" where steps are."""
    return "" if objective is None or objective.scale == "steps" else objective.signal


def known_gains(pairs: Sequence[Pair]) -> list[float]:
    """The gains of the pairs that have one."""
    return [p.gain for p in pairs if not np.isnan(p.gain)]


def judge_pairs(
    pairs: Sequence[Pair], objective: Objective, min_effect: float, together: int, analysis: int = 0
) -> Judged:
    """The verdict over pairs. A change without any effect is refuted at once."""
    noise = noise_of([p.before for p in pairs], objective)
    paired = same_start(pairs)
    return judge(
        known_gains(pairs), min_effect=min_effect, together=together, noise=noise, paired=paired, analysis=analysis
    )  # fmt: skip


def trial(
    pairs: Sequence[Pair],
    found: Judged,
    *,
    interventions: tuple[str, ...],
    on_top_of: tuple[str, ...],
    cause: str,
    fix: str | None = None,
    experiment: str | None = None,
    objective: Objective | None = None,
) -> Trial:
    """The document's form of what was tried. `objective`: what its levels are of."""
    signal = level_signal(objective)
    return Trial(
        fix=fix,
        experiment=experiment,
        cause=cause,
        interventions=interventions,
        on_top_of=on_top_of,
        seeds=tuple(p.after.seed for p in pairs if p.after.seed is not None),
        before=arm_levels([p.levels[0] for p in pairs], signal),
        after=arm_levels([p.levels[1] for p in pairs], signal),
        effect=round(found.effect, 4),
        interval=None
        if found.interval is None
        else (round(found.interval[0], 4), round(found.interval[1], 4)),
        p_value=found.p_value,
        verdict=found.verdict,
        why=found.why,
        gains=tuple(round(g, 4) for g in known_gains(pairs)),
        seconds=round(sum(p.after.seconds for p in pairs), 1),
    )
