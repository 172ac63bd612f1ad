"""A change in one of its doses, with its first pair, and what it is judged by."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from traindx import pipeline
from traindx.config import Config
from traindx.lab.judge import objectives
from traindx.lab.judge.significance import FIRST, Judged, least_gain
from traindx.lab.plan import Candidate
from traindx.lab.repair.conditions import is_fine
from traindx.lab.repair.pairs import Pair, judge_pairs, pair_arms
from traindx.vocabulary.trial import Objective

SOONER = math.log(1.25)  # a gain in steps from which a change with the same end is judged by its steps
ENOUGH = 0.69  # a gain of 50 % and more, in a healthy run: no larger dose is tried, unless
STEEP = 0.36  # the last dose was better than the one before it by 30 % and more, and
CURED = 2.0  # left more than an eighth of what was lost


class Way(NamedTuple):
    """A candidate in one of its doses, with its first pair."""

    candidate: Candidate
    interventions: tuple[str, ...]
    objective: Objective
    pair: Pair
    doses: int = 1  # among which this one was chosen by that pair: the proof pays for each of them


def by_speed(way: Way, allowed: bool, min_effect: float) -> Way:
    """A change whose first pair reaches the same end in clearly fewer steps is judged by these, and the
    proof pays for two objectives. Not where it is not `allowed`, because the user named an objective."""
    least = least_gain(min_effect)
    before, after = way.pair.before.run, way.pair.after.run
    if not allowed or before is None or after is None or not -least < way.pair.gain < least:
        return way
    objective = objectives.speed_objective(before, way.objective)
    pair = None if objective is None else pair_arms(way.pair.before, way.pair.after, objective)
    if objective is None or pair is None or pair.gain < SOONER:
        return way
    return way._replace(objective=objective, pair=pair, doses=2 * way.doses)


def judge_by_steps(
    way: Way, pairs: list[Pair], found: Judged, min_effect: float, together: int, analysis: int = 0
) -> tuple[Way, list[Pair], Judged]:
    """A change that was judged by its level, without an effect that counts, judged by its steps instead,
    where these confirm it."""
    before = pairs[0].before.run
    undecided = found.verdict in ("inconclusive", "refuted") and abs(found.effect) < 2 * least_gain(
        min_effect
    )
    objective = (
        objectives.speed_objective(before, way.objective) if undecided and before is not None else None
    )
    if objective is None or len(pairs) < FIRST:
        return way, pairs, found
    again = [pair_arms(one.before, one.after, objective) for one in pairs]
    judgement = judge_pairs(again, objective, min_effect, 2 * together, analysis)
    if judgement.verdict != "confirmed" or judgement.effect < SOONER:
        return way, pairs, found
    return way._replace(objective=objective, pair=again[0]), again, judgement


def is_cured(tried: Sequence[Way], config: Config) -> bool:
    """Whether the best of several doses has cured the run, so that no larger one is needed."""
    best, other = tried[0].pair, max((way.pair.gain for way in tried[1:]), default=0.0)
    steep = best.gain < CURED and best.gain - other > STEEP
    if best.gain < ENOUGH or best.after.run is None or steep:
        return False
    return is_fine(pipeline.diagnose(best.after.run, config).first)
