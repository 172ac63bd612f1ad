"""Which causes explain what was seen: additive log-odds, softmax over all causes.

A cause's score is its prior plus one term for every sign it has a weight for. Terms of one
evidence group are discounted (see `evidence`), so that one event is not counted several times.
A finding that a cause does not explain speaks against it, the more the graver it is: that is how
`healthy` loses, and how a memory leak loses where the loss has diverged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import cache
from math import fsum  # the same in any order

import msgspec
import numpy as np

from traindx.causes.catalogue import catalogue
from traindx.causes.facts import facts_of
from traindx.causes.grades.scales import grades_of
from traindx.causes.ranking.distance import distance_from_home
from traindx.causes.ranking.fitted import Fitted, added, fitted, view_of
from traindx.causes.ranking.log_terms import carried, log_terms
from traindx.causes.ranking.probabilities import believed, beside, capped, explained_by, shared, spread
from traindx.causes.ranking.refits import moved
from traindx.causes.ranking.signs import SECOND_HAND, Sign, signs_of, values_of
from traindx.causes.verdict.patterns import pattern
from traindx.features.shared import Features
from traindx.vocabulary.cause import Cause
from traindx.vocabulary.diagnosis import EvidenceTerm, Hypothesis, Severity
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Floats, Run

# Causes below this probability are left out of the list (unless fewer than SHOWN_AT_LEAST remain);
# the others are scaled to sum to 1. Basis: convention.
SHOWN_FROM = 0.005
SHOWN_AT_LEAST = 3
# Log-odds below which a term is not listed as evidence. Basis: convention, it moves no probability by 3 %.
TOLD_FROM = 0.1


# Log-odds that a cause pays for a finding it has no weight for; a weight of EXPLAINS or more frees it, a
# smaller one in part. Basis: convention, about how rarely a rule of that severity fires on a run without the fault.
UNEXPLAINED: Mapping[Severity, float] = {
    "critical": -5.5,
    "high": -4.0,
    "medium": -2.4,
    "low": -0.5,
    "info": 0.0,
}
EXPLAINS = 0.5
# Findings that faults of many kinds bring along count as lesser ones: what does not explain them loses little.
# Basis: measured. Of 40 recorded faults with a loss that jumps at once and stays there, 6 were too high rates.
COMMON = frozenset({"learning-rate-never-warms-up"})
GRAVE = frozenset(severity for severity, weight in UNEXPLAINED.items() if weight)
# What is left of that for a cause with a sign of CERTAIN log-odds for it: it is there, and what it does not explain may
# come of a second one beside it. Basis: measured on the gym by settings held out, among 1, 0.4 and 0.2.
CERTAIN, BESIDE = 3.0, 0.4


def rank(
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
    causes: Sequence[Cause] | None = None,
    fit: Fitted | None = None,
) -> tuple[Hypothesis, ...]:
    """Hypotheses, most probable first; their probabilities sum to 1 and `healthy` is always among
    them. `causes` replaces the catalogue, `fit` the fitted weights (for tests and comparisons)."""
    chosen = catalogue() if causes is None else tuple(causes)
    fit, slugs = fitted() if fit is None else fit, [c.slug for c in chosen]
    symptoms = run.setup.word("symptoms").replace(",", " ").split()
    signs = signs_of(outcomes, facts_of(run, features), symptoms, grades_of(run, features))
    values, open_ = values_of(signs), findings_of(signs)
    parts = [halves(c, signs, open_) for c in chosen]
    bases, terms = weighed(chosen, parts, values, view_of(run), fit)
    if (
        causes is None
    ):  # what is known of logs, and of how far a run is from others, is known of our own causes
        alone, part = log_terms(signs, run), carried(signs, run, features)
        terms = [tempered(t, alone.get(slug, {}), part) for slug, t in zip(slugs, terms, strict=True)]
    far = distance_from_home(values) if is_comparable(run) and causes is None else None
    heat = 1.0 if far is None else float(fit.temper.heat(far))
    bases, terms = cooled(bases, terms, heat)
    scores = np.array([fsum((base, *t.values())) for base, t in zip(bases, terms, strict=True)])
    probabilities = believed(scores) if far is None else shared(scores, fit.temper, far, slugs)
    first = int(probabilities.argmax())
    if far is not None and "healthy" in slugs:
        explained = explained_by(parts[first][0], signs, EXPLAINS)
        probabilities = beside(probabilities, bases, terms, signs, explained, slugs.index("healthy"))
    kept = listed(probabilities, slugs)
    # A benign shape explains a run only where health is the best explanation.
    shape = pattern(outcomes, run, features) if slugs[kept[0]] == "healthy" else None
    told = capped(probabilities[kept])
    found = [hypothesis(chosen[i], float(p), terms[i], shape) for i, p in zip(kept, told, strict=True)]
    if far is not None:
        members = (scores + move / heat for move in moved(values, *sums(chosen, parts), slugs))
        others = [float(shared(one, fit.temper, far, slugs)[kept[0]]) for one in members]
        found[0] = msgspec.structs.replace(found[0], interval=spread(found[0].probability, others))
    return tuple(found)


def is_comparable(run: Run) -> bool:
    """Whether modules were recorded beyond their gradients, as in all that the distance from home was fitted on: what
    shows fewer signs is far from all of them, and no stranger for that."""
    return any(not name.startswith("grad_") for name in run.panels)


def listed(probabilities: Floats, slugs: Sequence[str]) -> list[int]:
    """Which causes are told, the most probable first."""
    order = sorted(range(len(slugs)), key=lambda i: (-probabilities[i], slugs[i]))
    wanted = enumerate(order)
    return [
        i for n, i in wanted if n < SHOWN_AT_LEAST or probabilities[i] >= SHOWN_FROM or slugs[i] == "healthy"
    ]


def weighed(
    chosen: Sequence[Cause],
    parts: Sequence[tuple[dict[str, float], dict[str, float]]],
    values: Mapping[str, float],
    view: str,
    fit: Fitted,
) -> tuple[list[float], list[dict[str, float]]]:
    """Log-odds of each cause before any sign, and what each sign adds to them: by hand (`parts`) and by the fit."""
    more, scale = added(fit, values), fit.scale.get(view, 1.0)
    surprise = fit.surprise.get(view, scale)
    bases = [scale * c.prior + fit.base.get(view, {}).get(c.slug, 0.0) for c in chosen]
    both = zip(chosen, parts, strict=True)
    return bases, [together(own, rest, scale, surprise, more.get(c.slug, {})) for c, (own, rest) in both]


def sums(
    chosen: Sequence[Cause], parts: Sequence[tuple[dict[str, float], dict[str, float]]]
) -> tuple[list[float], list[float]]:
    """Log-odds of each cause by hand: its prior with what it explains, and what it loses for the rest."""
    own = [fsum((c.prior, *part.values())) for c, (part, _) in zip(chosen, parts, strict=True)]
    return own, [fsum(part.values()) for _, part in parts]


def cooled(
    bases: Sequence[float], terms: Sequence[Mapping[str, float]], heat: float
) -> tuple[list[float], list[dict[str, float]]]:
    """Log-odds of each cause before and for every sign, divided by `heat`."""
    return [b / heat for b in bases], [{key: value / heat for key, value in t.items()} for t in terms]


def halves(
    cause: Cause, signs: Mapping[str, Sign], found: Sequence[Sign]
) -> tuple[dict[str, float], dict[str, float]]:
    """The terms of a cause by the weights it has, and what is added to them for those of the findings `found` that it
    does not explain."""
    weighed = weighed_by(cause, signs)
    raw = {key: value * signs[key].strength for key, value in weighed.items()}
    explained = {signs[key].group for key, value in weighed.items() if value >= EXPLAINS and signs[key].held}
    own = discounted(raw, signs, explained)
    strange = [sign for sign in found if sign.group not in explained]
    if not strange:
        return own, {}
    strongest = max((value for key, value in raw.items() if signs[key].held), default=0.0)
    share = BESIDE if strongest >= CERTAIN else 1.0
    for sign in strange:
        open_part = 1.0 - max(weighed.get(sign.key, 0.0), 0.0) / EXPLAINS
        severity = "low" if sign.key in COMMON else sign.severity
        unexplained = share * UNEXPLAINED[severity] * sign.strength * open_part
        raw[sign.key] = raw.get(sign.key, 0.0) + unexplained
    whole = discounted(raw, signs, explained)
    return own, {key: value - own.get(key, 0.0) for key, value in whole.items()}


def together(
    own: Mapping[str, float],
    rest: Mapping[str, float],
    scale: float,
    surprise: float,
    more: Mapping[str, float],
) -> dict[str, float]:
    """Terms by hand, scaled, with those that the fit adds."""
    keys = {**own, **rest, **more}
    return {k: scale * own.get(k, 0.0) + surprise * rest.get(k, 0.0) + more.get(k, 0.0) for k in keys}


def tempered(terms: Mapping[str, float], alone: Mapping[str, float], part: float) -> dict[str, float]:
    """Terms with those that a log alone adds, and of all of them the part that it carries."""
    return {k: part * (terms.get(k, 0.0) + alone.get(k, 0.0)) for k in {**terms, **alone}}


def hypothesis(
    cause: Cause, probability: float, terms: Mapping[str, float], shape: str | None
) -> Hypothesis:
    """The published form: evidence for and against, strongest first."""
    ordered = sorted(terms.items(), key=lambda item: (-abs(item[1]), item[0]))
    rounded = [EvidenceTerm(name, round(value, 3)) for name, value in ordered if abs(value) >= TOLD_FROM]
    return Hypothesis(
        cause=cause.slug,
        title=cause.title,
        probability=probability,
        pattern=shape if cause.slug == "healthy" else None,
        for_=tuple(t for t in rounded if t.log_odds > 0),
        against=tuple(t for t in rounded if t.log_odds < 0),
    )


def weighed_by(cause: Cause, signs: Mapping[str, Sign]) -> dict[str, float]:
    """The weights of the cause for each sign, before its strength and any discount."""
    own: dict[str, float] = {}
    for key, subject, aspect in parsed(tuple(cause.weights)):
        sign = signs.get(subject)
        if sign is not None:
            weight = cause.weights[key]
            holds = sign.held and (not aspect or aspect in sign.marks)
            own[subject] = own.get(subject, 0.0) + (weight.fired if holds else weight.clear)
    return own


def findings_of(signs: Mapping[str, Sign]) -> list[Sign]:
    """The signs that are findings: something a cause has to explain."""
    return [
        sign
        for sign in signs.values()
        if sign.held and sign.severity in GRAVE and not sign.key.startswith("fact:")
    ]


def discounted(
    raw: Mapping[str, float], signs: Mapping[str, Sign], explained: Set[str] = frozenset()
) -> dict[str, float]:
    """`raw` with every contribution but the largest of its group and direction scaled down. In a group
    with a finding that the cause explains, it counts little that other rules are clear."""
    result: dict[str, float] = {}
    leaders: set[tuple[str, bool]] = set()
    for key in sorted(raw, key=lambda k: (-abs(raw[k]), k)):
        value = raw[key]
        if value == 0.0:
            continue
        place = (signs[key].group, value > 0)
        second = place in leaders or (not signs[key].held and signs[key].group in explained)
        result[key] = value * SECOND_HAND if second else value
        leaders.add(place)
    return result


@cache
def parsed(keys: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """(key, subject, aspect) of weight keys: "slug", "slug:aspect" and "fact:name"."""
    cut = ((key, key.partition(":")) for key in keys)
    return tuple(
        (key, key, "") if subject == "fact" else (key, subject, aspect) for key, (subject, _, aspect) in cut
    )
