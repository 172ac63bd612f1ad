"""How the outcome of an experiment changes the probabilities of the causes.

An experiment makes one change from outside that would cure certain causes. If it helps, that is evidence
for them; if it makes no difference, evidence against them. The chances were fitted (`python -m
benchmarks.repair FOLDER --chances`) on 49 trials of broken scripts with a known cause, of which 35
changes cure it, smoothed by hand-set values that count as ten trials. A change that cures the cause can
still fail: a second fault hides it, or the dose is too small.
"""

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from traindx.vocabulary import EvidenceTerm, Hypothesis
from traindx.vocabulary.trial import Verdict

# P(verdict | the change cures the cause), P(verdict | it does not).
CHANCES: Mapping[Verdict, tuple[float, float]] = {
    "confirmed": (0.64, 0.125),
    "refuted": (0.11, 0.50),
    "harmful": (0.01, 0.08),
    "inconclusive": (0.24, 0.295),
}
HEALTHY = {"confirmed": 0.03}  # hardly any change improves a healthy run that much


def updated(
    hypotheses: Sequence[Hypothesis],
    cured: Collection[str],
    verdict: Verdict,
    name: str,
    helped: Collection[str] = (),
) -> tuple[Hypothesis, ...]:
    """The hypotheses after experiment `name`, which would cure the causes `cured` and partly help those
    in `helped` (for which its outcome is half the evidence). They sum to 1, and each has the term that
    changed it."""
    no = CHANCES[verdict][1]
    likely = [chance(h.cause, cured, helped, verdict) for h in hypotheses]
    scores = [h.probability * p for h, p in zip(hypotheses, likely, strict=True)]
    total = sum(scores)
    result = []
    for hypothesis, score, p in zip(hypotheses, scores, likely, strict=True):
        term = EvidenceTerm(f"trial:{name}", round(math.log(p / no), 3))
        sides = (
            {"for_": (*hypothesis.for_, term)}
            if term.log_odds > 0
            else {"against": (*hypothesis.against, term)}
        )
        named = sides if term.log_odds else {}
        result.append(msgspec.structs.replace(hypothesis, probability=score / total, interval=None, **named))
    return tuple(sorted(result, key=lambda h: (-h.probability, h.cause)))


def without(hypotheses: Sequence[Hypothesis], causes: Collection[str]) -> tuple[Hypothesis, ...]:
    """The hypotheses that are not of these causes, which sum to 1; empty where the others had no chance."""
    left = [h for h in hypotheses if h.cause not in causes]
    total = sum(h.probability for h in left)
    changed = (msgspec.structs.replace(h, probability=h.probability / total, interval=None) for h in left)
    return tuple(changed) if total > 0 else ()


def chance(cause: str, cured: Collection[str], helped: Collection[str], verdict: Verdict) -> float:
    """P(verdict | the cause)."""
    yes, no = CHANCES[verdict]
    if cause in cured:
        return yes
    if cause in helped:
        return math.sqrt(yes * no)
    return HEALTHY.get(verdict, no) if cause == "healthy" else no
