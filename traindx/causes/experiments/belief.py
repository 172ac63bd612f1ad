"""What an experiment's outcome does to the belief in causes.

An experiment changes one thing from outside that would cure certain causes. That it helped speaks for them, that it
made no difference against them. Weights are fitted (`python -m benchmarks.repair FOLDER --chances`) on 49 trials of
broken scripts whose cause is known, 35 of them of changes that cure it, smoothed by what was set by hand before, worth
ten trials. A change that cures the cause may fail to be confirmed: a second fault hides it, or the dose is too small.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from traindx.vocabulary.diagnosis import EvidenceTerm, Hypothesis
from traindx.vocabulary.trial import Verdict

# P(verdict | the change cures the cause), P(verdict | it does not).
CHANCES: Mapping[Verdict, tuple[float, float]] = {
    "confirmed": (0.64, 0.125),
    "refuted": (0.11, 0.50),
    "harmful": (0.01, 0.08),
    "inconclusive": (0.24, 0.295),
}
HEALTHY = {"confirmed": 0.03}  # of a healthy run nothing is improved by that much


def updated(
    hypotheses: Sequence[Hypothesis],
    cured: Collection[str],
    verdict: Verdict,
    name: str,
    helped: Collection[str] = (),
) -> tuple[Hypothesis, ...]:
    """The hypotheses after an experiment `name` that would cure the causes `cured` and do some good to those `helped`
    (of which its outcome tells half as much); they sum to 1, and each has the term that moved it."""
    no = CHANCES[verdict][1]
    likely = [chance(h.cause, cured, helped, verdict) for h in hypotheses]
    scores = [h.probability * p for h, p in zip(hypotheses, likely, strict=True)]
    total = sum(scores)
    found = []
    for hypothesis, score, p in zip(hypotheses, scores, likely, strict=True):
        term = EvidenceTerm(f"trial:{name}", round(math.log(p / no), 3))
        sides = (
            {"for_": (*hypothesis.for_, term)}
            if term.log_odds > 0
            else {"against": (*hypothesis.against, term)}
        )
        named = sides if term.log_odds else {}
        found.append(msgspec.structs.replace(hypothesis, probability=score / total, interval=None, **named))
    return tuple(sorted(found, key=lambda h: (-h.probability, h.cause)))


def chance(cause: str, cured: Collection[str], helped: Collection[str], verdict: Verdict) -> float:
    """P(verdict | the cause)."""
    yes, no = CHANCES[verdict]
    if cause in cured:
        return yes
    if cause in helped:
        return math.sqrt(yes * no)
    return HEALTHY.get(verdict, no) if cause == "healthy" else no
