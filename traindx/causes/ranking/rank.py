"""Ranking of causes: additive log-odds, then softmax over all causes.

The score of a cause is its prior plus one term for every sign that it has a weight for. Terms of one
evidence group are discounted (see `signs`), so that one event is not counted several times. A finding that a
cause does not explain counts against it, by its severity. This is how `healthy` loses, and how a memory leak
loses when the loss has diverged.

Five fits, each without a fifth of the gym's base programs, say how much the ranking depends on single
programs. If the leading cause depends on a few of the fitted programs, the fits that have not seen them rank
differently. `members.json` holds the differences of their weights from the shipped ones, for recordings, as
bytes of `STEP`."""

import base64
import zlib
from collections.abc import Mapping, Sequence, Set
from functools import cache
from math import fsum  # gives the same sum in any order

import msgspec
import numpy as np

from traindx.causes.catalogue import catalogue
from traindx.causes.facts import facts_of
from traindx.causes.grades.scales import grades_of
from traindx.causes.ranking.distance import distance_from_fitted
from traindx.causes.ranking.fitted import Fitted, fitted_terms, fitted_weights, view_of
from traindx.causes.ranking.probabilities import (
    cap_probabilities,
    evidence_share,
    explain_away,
    explained_groups,
    flatten_probabilities,
    log_terms,
    rules_in_description,
    softmax,
    spread,
)
from traindx.causes.ranking.shipped import load_shipped
from traindx.causes.ranking.signs import SECOND_HAND, Sign, signs_of, values_of
from traindx.causes.verdict.patterns import pattern
from traindx.features.shared import Features
from traindx.vocabulary import Cause, EvidenceTerm, Floats, Hypothesis, Outcome, Run, Severity

# Causes below this probability are not listed (unless fewer than SHOWN_AT_LEAST remain); the others are
# scaled to sum to 1. Set by hand.
SHOWN_FROM = 0.005
SHOWN_AT_LEAST = 3
# A term with smaller log-odds is not listed as evidence: it changes no probability by 3 %.
LISTED_FROM = 0.1

# Log-odds that a cause loses for a finding without a weight for it. A weight of EXPLAINS or more avoids
# the loss, a smaller one reduces it. Set by hand, at about how rarely a rule of that severity fires
# without a fault.
UNEXPLAINED: Mapping[Severity, float] = {
    "critical": -5.5,
    "high": -4.0,
    "medium": -2.4,
    "low": -0.5,
    "info": 0.0,
}
EXPLAINS = 0.5
# Who says that nothing is learned does not say why: such a symptom counts against health only.
NO_PROGRESS = frozenset({"loss-flat-from-start", "metric-constant-or-impossible"})
SEVERE = ("critical", "high", "medium")
# A shape that leaves the cause open: it is kept where no cause reaches a probability of LEADS either.
UNSEEN, LEADS = "too-short-to-tell", 0.35
# These findings occur with many kinds of faults, so a cause that does not explain them loses little.
# Measured: of 40 recorded faults with a loss that jumps at once and stays there, 6 were learning rates
# that were too high.
COMMON = frozenset({"learning-rate-never-warms-up"})
GRAVE = frozenset(severity for severity, weight in UNEXPLAINED.items() if weight)
# What may be wrong with trees that are grown in rounds: they have no layers, and see all samples in each round.
OF_TREES = frozenset((
    "learning-rate-too-high", "learning-rate-too-low", "undertrained", "unsuitable-optimizer",
    "insufficient-regularization", "insufficient-capacity", "wrong-loss",
    "class-imbalance", "label-noise", "corrupt-samples", "misaligned-labels", "train-val-leakage",
    "val-preprocessing-mismatch", "too-little-data", "data-loader-bottleneck", "memory-leak", "step-time-creep",
    "device-fallback", "out-of-memory", "straggler-rank", "healthy",
))  # fmt: skip
# A cause with a sign of CERTAIN log-odds is present, so findings that it does not explain may come from
# a second fault: it loses only this part. Measured on the gym by held-out settings, among 1, 0.4 and
# 0.2.
CERTAIN, SECOND_FAULT = 3.0, 0.4


def rank(
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
    causes: Sequence[Cause] | None = None,
    fit: Fitted | None = None,
) -> tuple[Hypothesis, ...]:
    """Hypotheses, most probable first. Their probabilities sum to 1, and `healthy` is always among them.
    `causes` replaces the catalogue and `fit` the fitted weights (for tests and comparisons)."""
    chosen = tuple(c for c in causes or catalogue() if c.slug in OF_TREES or not run.boosted)
    fit, slugs = fitted_weights() if fit is None else fit, [c.slug for c in chosen]
    symptoms = set(rules_in_description(run)) - NO_PROGRESS
    signs = signs_of(outcomes, facts_of(run, features), symptoms, grades_of(run, features))
    values, findings = values_of(signs), findings_of(signs)
    parts = [hand_terms(c, signs, findings) for c in chosen]
    bases, terms = log_odds(chosen, parts, values, view_of(run), fit)
    far = None
    if causes is None:  # log terms and distances are known only for the causes of the catalogue
        alone, part = log_terms(signs, run), evidence_share(signs, run, features)
        terms = [temper_terms(t, alone.get(slug, {}), part) for slug, t in zip(slugs, terms, strict=True)]
        far = distance_from_fitted(values) if is_comparable(run) else None
    heat = 1.0 if far is None else float(fit.temper.heat(far))
    bases = [base / heat for base in bases]
    terms = [{key: value / heat for key, value in t.items()} for t in terms]
    scores = np.array([fsum((base, *t.values())) for base, t in zip(bases, terms, strict=True)])
    probabilities = softmax(scores) if far is None else flatten_probabilities(scores, fit.temper, far, slugs)
    first = int(probabilities.argmax())
    if far is not None and "healthy" in slugs:
        explained = explained_groups(parts[first][0], signs, EXPLAINS)
        probabilities = explain_away(probabilities, bases, terms, signs, explained, slugs.index("healthy"))
    shown = causes_to_list(probabilities, slugs)
    published = zip(shown, cap_probabilities(probabilities[shown]), strict=True)
    ranked = [hypothesis(chosen[i], float(p), terms[i]) for i, p in published]
    seen = any(f.severity in SEVERE and f.key not in symptoms for f in findings)
    ranked[0] = with_benign_shape(ranked[0], pattern(outcomes, run, features), seen)
    if far is not None:
        by_hand = [fsum((c.prior, *known.values())) for c, (known, _) in zip(chosen, parts, strict=True)]
        lost = [fsum(rest.values()) for _, rest in parts]
        members = (scores + move / heat for move in refit_scores(values, by_hand, lost, slugs))
        others = [float(flatten_probabilities(one, fit.temper, far, slugs)[shown[0]]) for one in members]
        ranked[0] = msgspec.structs.replace(ranked[0], interval=spread(ranked[0].probability, others))
    return tuple(ranked)


def with_benign_shape(first: Hypothesis, shape: str | None, seen: bool) -> Hypothesis:
    """The first hypothesis with a benign shape, which explains a run where health is the best explanation, or where
    nothing explains it yet: `seen` says whether a rule found something."""
    unseen = shape == UNSEEN and first.probability < LEADS and not seen
    return msgspec.structs.replace(first, pattern=shape) if first.cause == "healthy" or unseen else first


def is_comparable(run: Run) -> bool:
    """Whether more than gradients was recorded, as in all runs that the distance was fitted on. A run
    with fewer signs is far from all of them without being unusual."""
    return any(not name.startswith("grad_") for name in run.panels)


def causes_to_list(probabilities: Floats, slugs: Sequence[str]) -> list[int]:
    """The indices of the causes to list, most probable first."""
    wanted = enumerate(sorted(range(len(slugs)), key=lambda i: (-probabilities[i], slugs[i])))
    return [
        i for n, i in wanted if n < SHOWN_AT_LEAST or probabilities[i] >= SHOWN_FROM or slugs[i] == "healthy"
    ]


def log_odds(
    chosen: Sequence[Cause],
    parts: Sequence[tuple[dict[str, float], dict[str, float]]],
    values: Mapping[str, float],
    view: str,
    fit: Fitted,
) -> tuple[list[float], list[dict[str, float]]]:
    """Log-odds of each cause before any sign, and what each sign adds to them: hand-set (`parts`) and
    fitted."""
    more, scale = fitted_terms(fit, values), fit.scale.get(view, 1.0)
    surprise = fit.surprise.get(view, scale)
    bases = [scale * c.prior + fit.base.get(view, {}).get(c.slug, 0.0) for c in chosen]
    both = zip(chosen, parts, strict=True)
    return bases, [
        combine_terms(own, rest, scale, surprise, more.get(c.slug, {})) for c, (own, rest) in both
    ]


def hand_terms(
    cause: Cause, signs: Mapping[str, Sign], findings: Sequence[Sign]
) -> tuple[dict[str, float], dict[str, float]]:
    """The terms of a cause from its weights, and the terms that it loses for the `findings` that it does
    not explain."""
    weights = weights_for(cause, signs)
    raw = {key: value * signs[key].strength for key, value in weights.items()}
    explained = {signs[key].group for key, value in weights.items() if value >= EXPLAINS and signs[key].held}
    own = discount_repeats(raw, signs, explained)
    unexplained = [sign for sign in findings if sign.group not in explained]
    if not unexplained:
        return own, {}
    strongest = max((value for key, value in raw.items() if signs[key].held), default=0.0)
    share = SECOND_FAULT if strongest >= CERTAIN else 1.0
    for sign in unexplained:
        part = 1.0 - max(weights.get(sign.key, 0.0), 0.0) / EXPLAINS
        severity = "low" if sign.key in COMMON else sign.severity
        raw[sign.key] = raw.get(sign.key, 0.0) + share * UNEXPLAINED[severity] * sign.strength * part
    both = discount_repeats(raw, signs, explained)
    return own, {key: value - own.get(key, 0.0) for key, value in both.items()}


def combine_terms(
    own: Mapping[str, float],
    rest: Mapping[str, float],
    scale: float,
    surprise: float,
    more: Mapping[str, float],
) -> dict[str, float]:
    """Hand-set terms, scaled, plus the fitted ones."""
    keys = {**own, **rest, **more}
    return {k: scale * own.get(k, 0.0) + surprise * rest.get(k, 0.0) + more.get(k, 0.0) for k in keys}


def temper_terms(terms: Mapping[str, float], alone: Mapping[str, float], part: float) -> dict[str, float]:
    """The terms plus those that count only for logs, multiplied by the share of the evidence that counts."""
    return {k: part * (terms.get(k, 0.0) + alone.get(k, 0.0)) for k in {**terms, **alone}}


def hypothesis(cause: Cause, probability: float, terms: Mapping[str, float]) -> Hypothesis:
    """The published form: evidence for and against, strongest first."""
    ordered = sorted(terms.items(), key=lambda item: (-abs(item[1]), item[0]))
    rounded = [EvidenceTerm(name, round(value, 3)) for name, value in ordered if abs(value) >= LISTED_FROM]
    return Hypothesis(
        cause=cause.slug,
        title=cause.title,
        probability=probability,
        for_=tuple(t for t in rounded if t.log_odds > 0),
        against=tuple(t for t in rounded if t.log_odds < 0),
    )


def weights_for(cause: Cause, signs: Mapping[str, Sign]) -> dict[str, float]:
    """The weights of the cause for each sign, before strength and discounts."""
    own: dict[str, float] = {}
    for key, subject, aspect in parse_keys(tuple(cause.weights)):
        sign = signs.get(subject)
        if sign is not None:
            weight = cause.weights[key]
            holds = sign.held and (not aspect or aspect in sign.marks)
            own[subject] = own.get(subject, 0.0) + (weight.fired if holds else weight.clear)
    return own


def findings_of(signs: Mapping[str, Sign]) -> list[Sign]:
    """The signs that are findings, which a cause has to explain."""
    return [
        sign
        for sign in signs.values()
        if sign.held and sign.severity in GRAVE and not sign.key.startswith("fact:")
    ]


def discount_repeats(
    raw: Mapping[str, float], signs: Mapping[str, Sign], explained: Set[str] = frozenset()
) -> dict[str, float]:
    """`raw` with every contribution reduced, except the largest of each group and direction. In a group
    with a finding that the cause explains, rules that did not fire count little."""
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
def parse_keys(keys: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """(key, subject, aspect) of weight keys: "slug", "slug:aspect" and "fact:name"."""
    cut = ((key, key.partition(":")) for key in keys)
    return tuple(
        (key, key, "") if subject == "fact" else (key, subject, aspect) for key, (subject, _, aspect) in cut
    )


STEP = 0.02  # log-odds


class Members(msgspec.Struct, frozen=True):
    """Differences of each refit from the shipped fit: of `scale` and `surprise`, of
    `base[member][cause]`, and of the weights[member, key, cause], packed."""

    keys: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    scale: tuple[float, ...] = ()
    surprise: tuple[float, ...] = ()
    base: tuple[tuple[float, ...], ...] = ()
    weights: str = ""

    def differences(self) -> Floats:
        """Differences of the weights[member, key, cause], in log-odds."""
        raw = np.frombuffer(zlib.decompress(base64.b64decode(self.weights)), np.int8)
        return np.multiply(
            raw.reshape(len(self.scale), len(self.keys), len(self.causes)), STEP, dtype=np.float64
        )


@cache
def shipped_refits() -> tuple[Members, Floats]:
    """The shipped refits with their differences; empty where there is no file."""
    members = load_shipped("members", Members)
    return members, members.differences() if members.weights else np.zeros((0, 0, 0))


def refit_scores(
    values: Mapping[str, float], hand: Sequence[float], rest: Sequence[float], causes: Sequence[str]
) -> list[Floats]:
    """What each refit adds to the scores of `causes` for a recording with these values of signs.

    `hand` are the hand-set scores of what each cause explains, with its prior; `rest` what it loses for the
    others."""
    members, weights = shipped_refits()
    row = np.array([values.get(key, 0.0) for key in members.keys])
    place = {cause: i for i, cause in enumerate(members.causes)}
    known = np.array([place.get(cause, -1) for cause in causes])
    added = []
    for scale, surprise, base, difference in zip(
        members.scale, members.surprise, members.base, weights, strict=True
    ):
        fitted = np.append(
            np.array(base) + row @ difference, 0.0
        )  # a cause that was added after the fit has no weights
        added.append(scale * np.asarray(hand) + surprise * np.asarray(rest) + fitted[known])
    return added
