"""From the scores of causes to what is told of them: no surer than right answers about unseen programs allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum  # the same in any order

import numpy as np

from traindx.causes.ranking.distance import Temper
from traindx.causes.ranking.signs import Sign
from traindx.vocabulary.run import Floats

# No cause is told with more. Basis: theory, rule of succession: some hundreds of programs, of which a part decides.
CEILING = 0.99
# How often a second fault stands beside the first, by which what it would be shares the rest of the probability.
# Basis: measured, on the gym's pairs by settings held out, among 0.02 to 5; most runs have one fault.
SECOND = 0.02


def believed(scores: Floats) -> Floats:
    """The probability of each cause by its log-odds."""
    odds = np.exp(scores - scores.max())
    return np.asarray(odds / odds.sum())


def shared(scores: Floats, temper: Temper, distance: float, causes: Sequence[str]) -> Floats:
    """Probabilities of a recording so far from home, a share of them by how often causes are right."""
    share = float(temper.share(distance))
    usual = np.array([temper.usual.get(cause, 0.0) for cause in causes])
    return np.asarray((1 - share) * believed(scores) + share * usual)


def explained_by(own: Mapping[str, float], signs: Mapping[str, Sign], least: float) -> frozenset[str]:
    """The groups of what was seen and speaks for a cause with `least` log-odds or more, by the terms of its own."""
    return frozenset(signs[key].group for key, value in own.items() if value >= least and signs[key].held)


def beside(
    probabilities: Floats,
    bases: Sequence[float],
    terms: Sequence[Mapping[str, float]],
    signs: Mapping[str, Sign],
    explained: frozenset[str],
    healthy: int,
) -> Floats:
    """Explaining away: what the leading fault explains says nothing about others. The rest of the probability is shared
    among the other faults by what they were before, and by what is seen in none of the groups `explained` by it, as
    far as two faults are likely at all. The leading fault and health keep what they have."""
    first = int(probabilities.argmax())
    others = np.array([i for i in range(len(probabilities)) if i not in (first, healthy)], dtype=int)
    if first == healthy or not len(others):
        return probabilities
    open_ = {key for key, sign in signs.items() if not (sign.held and sign.group in explained)}
    scores = np.array(
        [fsum((bases[i], *(v for key, v in terms[i].items() if key in open_))) for i in others]
    )
    rest = probabilities[others]
    mixed = rest + SECOND * probabilities[first] * believed(scores)
    told = probabilities.copy()
    told[others] = mixed * rest.sum() / mixed.sum()
    return told


def capped(probabilities: Floats) -> Floats:
    """Summing to 1, the largest no larger than the ceiling."""
    whole = probabilities / probabilities.sum()
    top = int(whole.argmax())
    rest = np.delete(whole, top)
    if whole[top] <= CEILING or not rest.sum() > 0:
        return np.asarray(whole)
    return np.insert(rest * (1 - CEILING) / rest.sum(), top, CEILING)


def spread(leading: float, others: Sequence[float]) -> tuple[float, float] | None:
    """The least and the most that the members say of the leading cause, and what is told of it; None without any."""
    if not others:
        return None
    said = [min(p, CEILING) for p in (leading, *others)]
    return round(min(said), 3), round(max(said), 3)
