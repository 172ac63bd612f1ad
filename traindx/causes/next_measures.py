"""What to look at next: the measurements that are expected to settle most, in bits.

A measurement is one or several yes/no questions; each cause's weights say how likely a yes is under it
(p = logistic(logit(base rate) + fired - clear)). Its gain is the mutual information between the
answers and the cause, under the present probabilities.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import msgspec
import numpy as np

from traindx.causes.catalogue import catalogue
from traindx.causes.evidence import GROUP_OF
from traindx.causes.facts import QUESTIONS, facts_of
from traindx.causes.questions import HOW_TO_LOG, WITH_CAPTURE
from traindx.causes.words import lowered
from traindx.features.shared import Features
from traindx.vocabulary.cause import Cause
from traindx.vocabulary.diagnosis import Hypothesis, NextMeasure
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Floats, Run

SHOWN = 3
WORTH = 0.05  # bits; below that a measurement is not worth asking for
PLAUSIBLE = 0.05  # causes below that are not worth an experiment of their own
CAPTURED = "traindx"  # the format of runs that were recorded
AT_ONCE = 4  # questions of one measurement that are weighed together (2^4 answers)
# Basis: convention. How often a rule fires / a fact holds where nothing speaks for it, and how often an
# experiment made to confirm a cause is right.
RULE_RATE, FACT_RATE, EXPERIMENT_RIGHT = 0.05, 0.2, 0.9


class Question(msgspec.Struct, frozen=True):
    """A yes/no question: `likelihood[c]` is the chance of a yes under each hypothesis."""

    key: str
    likelihood: Floats


class Candidate(msgspec.Struct, frozen=True):
    measure: str
    how: str
    questions: tuple[Question, ...]


def next_measures(
    hypotheses: Sequence[Hypothesis], outcomes: Sequence[Outcome], run: Run, features: Features | None = None
) -> tuple[NextMeasure, ...]:
    """The best few measurements, most informative first; none when one cause is all but certain."""
    known = {c.slug: c for c in catalogue()}
    kept = [h for h in hypotheses if h.cause in known]
    if len(kept) < 2:
        return ()
    belief = np.array([h.probability for h in kept])
    belief = belief / belief.sum()
    causes = [known[h.cause] for h in kept]
    found = [
        *signals_missing(outcomes, run, causes),
        *facts_missing(facts_of(run, features or Features(run)), causes),
        *experiments(kept, run, causes),
    ]
    measures = [worded(c, causes, belief) for c in found]
    best: dict[str, NextMeasure] = {}
    for measure in sorted(measures, key=lambda m: (-m.gain_bits, m.measure)):
        if measure.gain_bits >= WORTH:
            best.setdefault(measure.how, measure)
    return tuple(best.values())[:SHOWN]


def signals_missing(outcomes: Iterable[Outcome], run: Run, causes: Sequence[Cause]) -> list[Candidate]:
    """One candidate per signal that rules lack: the questions of all rules it would wake."""
    captured = run.format == CAPTURED  # what modules tell is all there: those of another kind are not to be had
    lacking: dict[str, list[Question]] = {}
    for outcome in outcomes:
        if outcome.status != "not-evaluated":
            continue
        for need in outcome.rule.needs:
            names = need.split("|")
            if not any(present(n, run) for n in names):
                asked = question(outcome.rule.slug, causes, RULE_RATE)
                if asked is not None:
                    lacking.setdefault(names[0], []).append(asked)
                break
    return [
        Candidate(*HOW_TO_LOG.get(name.split("/*")[0], (name, WITH_CAPTURE)), strongest(questions))
        for name, questions in lacking.items()
        if not name.startswith(("event:", "setup:")) and not (captured and name.endswith("/*"))
    ]


def present(name: str, run: Run) -> bool:
    """Whether the run has a signal that a rule needs (as the rule engine reads such names)."""
    if name in ("run", "objective") or name.startswith(("event:", "setup:")):
        return name == "run" or bool(run.series)
    if name.endswith("/*"):
        return any(n.startswith(name[:-1]) for n in (*run.series, *run.panels))
    return name in run.series or name in run.panels


def facts_missing(told: Mapping[str, bool], causes: Sequence[Cause]) -> list[Candidate]:
    """One candidate per question to the user that the log leaves open."""
    asked: dict[tuple[str, str], list[Question]] = {}
    for name, words in QUESTIONS.items():
        made = question(f"fact:{name}", causes, FACT_RATE)
        if name not in told and made is not None:
            asked.setdefault(words, []).append(made)
    return [Candidate(measure, how, strongest(questions)) for (measure, how), questions in asked.items()]


def experiments(hypotheses: Sequence[Hypothesis], run: Run, causes: Sequence[Cause]) -> list[Candidate]:
    """The measurements that causes with evidence for them name themselves as decisive."""
    made = []
    for index, (hypothesis, cause) in enumerate(zip(hypotheses, causes, strict=True)):
        if cause.slug == "healthy" or not hypothesis.for_ or hypothesis.probability < PLAUSIBLE:
            continue
        likelihood = np.full(len(causes), 1 - EXPERIMENT_RIGHT)
        likelihood[index] = EXPERIMENT_RIGHT
        for measure, how in cause.settles[:2]:
            logged = not set(re.split(r"[ ,;()]+", how)).isdisjoint(run.series)
            if not how.startswith("--fact") and not logged:
                made.append(Candidate(measure, how, (Question(cause.slug, likelihood),)))
    return made


def question(key: str, causes: Sequence[Cause], rate: float) -> Question | None:
    """How likely a yes is under each cause; None when no cause here has a weight for it."""
    weights = [c.weights.get(key) for c in causes]
    if all(w is None for w in weights):
        return None
    shift = np.array([0.0 if w is None else w.fired - w.clear for w in weights])
    return Question(key, 1 / (1 + np.exp(-(math.log(rate / (1 - rate)) + shift))))


def strongest(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The most telling question of each evidence group, at most `AT_ONCE`: members of a group say
    the same thing and must not be counted twice."""
    ordered = sorted(questions, key=lambda q: (-float(np.ptp(q.likelihood)), q.key))
    groups: dict[str, Question] = {}
    for asked in ordered:
        groups.setdefault(GROUP_OF.get(asked.key, asked.key), asked)
    return tuple(groups.values())[:AT_ONCE]


def gain(questions: Sequence[Question], belief: Floats) -> float:
    """Mutual information in bits between the answers to the questions and the cause."""
    before, after = entropy(belief), 0.0
    for answers in product((True, False), repeat=len(questions)):
        joint = belief.copy()
        for yes, asked in zip(answers, questions, strict=True):
            joint *= asked.likelihood if yes else 1 - asked.likelihood
        chance = float(joint.sum())
        if chance > 0:
            after += chance * entropy(joint / chance)
    return max(before - after, 0.0)


def entropy(p: Floats) -> float:
    """Entropy in bits of probabilities `p[n]`."""
    positive = p[p > 0]
    return float(-(positive * np.log2(positive)).sum())


def worded(candidate: Candidate, causes: Sequence[Cause], belief: Floats) -> NextMeasure:
    """The candidate with its gain and the causes that it separates best."""
    return NextMeasure(
        candidate.measure,
        why_of(candidate, causes, belief),
        candidate.how,
        round(gain(candidate.questions, belief), 3),
    )


def why_of(candidate: Candidate, causes: Sequence[Cause], belief: Floats) -> str:
    """Which of the likely causes the measurement speaks for, and which against."""
    chosen = candidate.questions[0].likelihood
    centred = (chosen - float(belief @ chosen)) * belief
    yes, no = int(np.argmax(centred)), int(np.argmin(centred))
    if yes == no:
        return f"speaks for or against: {lowered(causes[yes].title)}"
    return f"tells '{lowered(causes[yes].title)}' from '{lowered(causes[no].title)}'"
