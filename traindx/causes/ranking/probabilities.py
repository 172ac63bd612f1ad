"""From the scores of causes to published probabilities: no more certain than results on unseen programs
allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum  # gives the same sum in any order

import numpy as np

from traindx.causes.ranking.distance import Temper
from traindx.causes.ranking.signs import Sign
from traindx.vocabulary.run import Floats

# No cause gets a higher probability: a few hundred fitted programs cannot support more (rule of succession).
CEILING = 0.99
# How often a run has a second fault next to the first; sets how the rest of the probability is shared.
# Measured on the gym's pairs of faults by held-out settings, among 0.02 to 5; most runs have one fault.
SECOND = 0.02


def softmax(scores: Floats) -> Floats:
    """The probability of each cause by its log-odds."""
    odds = np.exp(scores - scores.max())
    return np.asarray(odds / odds.sum())


def flattened(scores: Floats, temper: Temper, distance: float, causes: Sequence[str]) -> Floats:
    """Probabilities of a recording at `distance` from the fitted runs: part of them goes to the usual
    causes."""
    share = float(temper.share(distance))
    usual = np.array([temper.usual.get(cause, 0.0) for cause in causes])
    return np.asarray((1 - share) * softmax(scores) + share * usual)


def explained_by(terms: Mapping[str, float], signs: Mapping[str, Sign], least: float) -> frozenset[str]:
    """The evidence groups of the signs that support a cause with `least` log-odds or more, by its own
    terms."""
    return frozenset(signs[key].group for key, value in terms.items() if value >= least and signs[key].held)


def explain_away(
    probabilities: Floats,
    bases: Sequence[float],
    terms: Sequence[Mapping[str, float]],
    signs: Mapping[str, Sign],
    explained: frozenset[str],
    healthy: int,
) -> Floats:
    """Explaining away: evidence that the leading fault explains does not support other faults.

    The other faults share the rest of the probability by two amounts: what they had before, and what the
    evidence outside the groups in `explained` supports, weighted by how often a run has two faults. The
    leading fault and `healthy` keep their probabilities.
    """
    first = int(probabilities.argmax())
    others = np.array([i for i in range(len(probabilities)) if i not in (first, healthy)], dtype=int)
    if first == healthy or not len(others):
        return probabilities
    unexplained = {key for key, sign in signs.items() if not (sign.held and sign.group in explained)}
    scores = np.array(
        [fsum((bases[i], *(v for key, v in terms[i].items() if key in unexplained))) for i in others]
    )
    rest = probabilities[others]
    mixed = rest + SECOND * probabilities[first] * softmax(scores)
    result = probabilities.copy()
    result[others] = mixed * rest.sum() / mixed.sum()
    return result


def capped(probabilities: Floats) -> Floats:
    """Probabilities that sum to 1, with the largest at most `CEILING`."""
    scaled = probabilities / probabilities.sum()
    top = int(scaled.argmax())
    rest = np.delete(scaled, top)
    if scaled[top] <= CEILING or not rest.sum() > 0:
        return np.asarray(scaled)
    return np.insert(rest * (1 - CEILING) / rest.sum(), top, CEILING)


def spread(leading: float, others: Sequence[float]) -> tuple[float, float] | None:
    """The smallest and largest probability of the leading cause among the ranking and its refits; None
    without refits."""
    if not others:
        return None
    ranked = [min(p, CEILING) for p in (leading, *others)]
    return round(min(ranked), 3), round(max(ranked), 3)
