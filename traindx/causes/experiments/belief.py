"""How the outcome of an experiment changes the probabilities of the causes.

An experiment makes one change from outside that would cure certain causes. If it helps, that is evidence
for them; if it makes no difference, evidence against them. The first four chances were fitted (`python -m
benchmarks.repair FOLDER --chances`) on 49 trials of broken scripts with a known cause, of which 35
changes cure it, smoothed by hand-set values that count as ten trials. A change that cures the cause can
still fail: a second fault hides it, or the dose is too small.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from traindx.vocabulary import EvidenceTerm, Hypothesis
from traindx.vocabulary.trial import Verdict

Outcome = Verdict | Literal["decisive", "idle"]

# P(outcome | the change cures the cause), P(outcome | it does not).
CHANCES: Mapping[Outcome, tuple[float, float]] = {
    "confirmed": (0.64, 0.125),
    "refuted": (0.11, 0.50),
    "harmful": (0.01, 0.08),
    "inconclusive": (0.24, 0.295),
    # By hand: another fault is seldom removed by a change that repairs one fault only, and a change that
    # found nothing to do shows that its fault is absent.
    "decisive": (0.64, 0.03),
    "idle": (0.01, 0.50),
}
# Hardly any change improves a healthy run that much.
HEALTHY: Mapping[Outcome, float] = {"confirmed": 0.03, "decisive": 0.01}
# Changes that repair one fault and make no difference without it. A learning rate, for example, may be
# better at another value in any run.
REPAIRS = frozenset(
    (
        "zero_grad", "mode", "eval_mode", "logits", "register", "unfreeze", "loss", "drop", "inputs", "targets",
        "precision", "data",
    )
)  # fmt: skip


def outcome_of(verdict: Verdict, interventions: Sequence[str], *, idle: bool = False) -> Outcome:
    """What the verdict on a change says about causes. `idle`: it found nothing to change."""
    if idle:
        return "idle"
    repairs = all(spec.partition("=")[0] in REPAIRS for spec in interventions)
    return "decisive" if verdict == "confirmed" and repairs else verdict


def update_belief(
    hypotheses: Sequence[Hypothesis],
    cured: Collection[str],
    outcome: Outcome,
    name: str,
    helped: Collection[str] = (),
    *,
    keep_health: bool = False,
) -> tuple[Hypothesis, ...]:
    """The hypotheses after experiment `name`, which would cure the causes `cured` and partly help those
    in `helped` (for which its outcome is half the evidence). They sum to 1, and each has the term that
    changed it. `keep_health`: a change that does not help is no evidence that the run is healthy, because
    another fault could be there."""
    likely = [chance(h.cause, cured, helped, outcome) for h in hypotheses]
    no = CHANCES[outcome][1]
    if keep_health and outcome not in HEALTHY:
        faulty = [
            (h.probability, p) for h, p in zip(hypotheses, likely, strict=True) if h.cause != "healthy"
        ]
        mean = sum(q * p for q, p in faulty) / (sum(q for q, _ in faulty) or 1.0)
        likely = [mean or no if h.cause == "healthy" else p for h, p in zip(hypotheses, likely, strict=True)]
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


def exclude_causes(hypotheses: Sequence[Hypothesis], causes: Collection[str]) -> tuple[Hypothesis, ...]:
    """The hypotheses that are not of these causes, which sum to 1; empty where the others had no chance."""
    left = [h for h in hypotheses if h.cause not in causes]
    total = sum(h.probability for h in left)
    changed = (msgspec.structs.replace(h, probability=h.probability / total, interval=None) for h in left)
    return tuple(changed) if total > 0 else ()


def chance(cause: str, cured: Collection[str], helped: Collection[str], outcome: Outcome) -> float:
    """P(outcome | the cause)."""
    yes, no = CHANCES[outcome]
    if cause in cured:
        return yes
    if cause in helped:
        return math.sqrt(yes * no)
    return HEALTHY.get(outcome, no) if cause == "healthy" else no
