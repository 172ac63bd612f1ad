"""Signs: outcomes of rules, facts and grades of a run in the one form that the ranking reads.

Rules that see the same event (a loss that diverges also spikes and ends in NaN) are one piece of
evidence, not three. They share a named group here. Within a group, the largest contribution to a cause
counts fully and each further one in the same direction counts by `SECOND_HAND`. A finding that follows
from another joins the group of that finding.
"""

from collections.abc import Iterable, Mapping

import msgspec

from traindx.causes.grades.weights import SAME_AS
from traindx.vocabulary import SEVERITIES, Outcome, Severity

# Set by hand. 1 would count one event several times; 0 would ignore that a second signal adds something.
SECOND_HAND = 0.3
REPORTED = 0.6  # strength of a symptom that the user reports and no rule could check

GROUPS: Mapping[str, tuple[str, ...]] = {
    "blow-up": (
        "loss-not-finite",
        "loss-diverges",
        "loss-spikes-then-fails",
        "gradient-not-finite",
        "activations-not-finite",
        "rewards-fall-by-small-steps",
    ),
    "gradient-growth": (
        "gradient-norm-explodes",
        "gradient-norm-grows",
        "gradient-norm-spikes",
        "weights-grow-unbounded",
        "updates-too-large",
    ),
    "no-progress": (
        "loss-flat-from-start",
        "loss-at-chance",
        "losses-stay-high",
        "loss-plateaus",
        "loss-improves-too-little-noise-considered",
        "rewards-do-not-differ",
        "divergence-outweighs-rewards",
    ),
    "unfinished": ("loss-still-falling-at-end", "loss-falls-slowly", "fact:few-updates"),
    "spikes": ("loss-spikes-and-recovers", "loss-spikes-recur"),
    "gap": ("validation-gap-grows", "metric-contradicts-loss"),
    "vanishing": (
        "gradient-norm-vanishes",
        "gradients-vanish-with-depth",
        "gradient-is-zero",
        "updates-too-small",
        "activations-saturate",
        "deep-saturating-activations",
    ),
    "schedule": ("learning-rate-is-zero", "learning-rate-vanishes-early"),
    "warm-up": ("learning-rate-never-warms-up", "fact:no-warmup"),
    "precision": (
        "half-precision-overflows",
        "half-precision-underflows",
        "loss-scale-collapses",
        "steps-skipped-often",
    ),
    "unmoved": (
        "parameters-never-change",
        "parameters-frozen",
        "optimizer-never-steps",
        "parameters-missing-from-optimizer",
    ),
    "size": ("model-larger-than-data", "fact:parameters-exceed-data", "fact:small-dataset"),
    "odd-values": ("inputs-not-finite", "inputs-have-outliers", "targets-have-outliers"),
    "memory": ("memory-grows", "out-of-memory", "graph-is-kept"),
    "pace": ("step-time-creeps", "step-time-jumps", "step-time-outliers"),
    "waiting": ("step-waits-for-data", "accelerator-underused"),
}

GROUP_OF: Mapping[str, str] = {member: name for name, members in GROUPS.items() for member in members}


class Sign(msgspec.Struct, frozen=True):
    """One outcome or fact. `key` is a rule's slug or "fact:<name>", `held` whether it fired (or is true),
    `strength` 0..1, `marks` its aspects; `group` names the evidence group."""

    key: str
    held: bool
    group: str
    strength: float = 1.0
    marks: frozenset[str] = frozenset()
    severity: Severity = "info"


def signs_of(
    outcomes: Iterable[Outcome],
    facts: Mapping[str, bool],
    symptoms: Iterable[str] = (),
    grades: Mapping[str, str] | None = None,
) -> dict[str, Sign]:
    """Signs by key. A rule that was not evaluated, or a fact or grade that is not known, leaves none.
    `symptoms` are slugs of rules that a user reports; they count where the rule was not evaluated, or where the
    log shows something related."""
    judged = {o.rule.slug: o for o in outcomes if o.status != "not-evaluated"}
    signs = {slug: sign_of(outcome, judged) for slug, outcome in judged.items()}
    for slug in symptoms:
        group = GROUP_OF.get(slug, slug)
        known = signs.get(slug)
        related = any(s.held and s.group == group for s in signs.values())
        if known is None or (related and not known.held):
            signs[slug] = Sign(slug, True, group, REPORTED, severity="medium")
    for name, holds in facts.items():
        key = f"fact:{name}"
        signs[key] = Sign(key, holds, GROUP_OF.get(key, key))
    for name, word in (grades or {}).items():
        same = SAME_AS.get(name, name)
        signs[f"{name}={word}"] = Sign(f"{name}={word}", True, GROUP_OF.get(same, same))
    return signs


def sign_of(outcome: Outcome, judged: Mapping[str, Outcome]) -> Sign:
    """The sign of one evaluated outcome."""
    slug = outcome.rule.slug
    if outcome.status == "clear":
        return Sign(slug, False, GROUP_OF.get(slug, slug))
    source = parent_of(outcome, judged) or slug
    return Sign(
        slug,
        True,
        GROUP_OF.get(source, source),
        outcome.strength,
        frozenset(mark for e in outcome.evidence for mark in e.aspects),
        worst_severity(outcome),
    )


def parent_of(outcome: Outcome, judged: Mapping[str, Outcome]) -> str | None:
    """The fired rule that this finding follows from: the first possible one of `follows`."""
    return next((s for s in outcome.rule.follows if s in judged and outcome.follows_from(judged[s])), None)


def worst_severity(outcome: Outcome) -> Severity:
    """The gravest severity among the evidence of the outcome."""
    named = [e.severity or outcome.rule.severity for e in outcome.evidence] or [outcome.rule.severity]
    return min(named, key=SEVERITIES.index)


# How much of a finding counts for the fitted weights, by its severity. Set by hand, in the order of
# severities.
GRAVITY: Mapping[Severity, float] = {"critical": 1.0, "high": 1.0, "medium": 0.8, "low": 0.5, "info": 0.25}
CLEAR = "!"  # marks the key of a rule that did not fire, or of a fact that does not hold


def values_of(signs: Mapping[str, Sign]) -> dict[str, float]:
    """What fitted weights are multiplied by, by key: a finding ("slug") and its aspects ("slug:aspect")
    count by gravity and strength; a fact that holds, a grade ("loss-fall=most") and what is clear
    ("!slug") count 1. What was not evaluated has no key."""
    values: dict[str, float] = {}
    for key, sign in signs.items():
        if not sign.held:
            values[CLEAR + key] = 1.0
            continue
        size = 1.0 if key.startswith("fact:") or "=" in key else sign.strength * GRAVITY[sign.severity]
        values[key] = size
        for mark in sorted(sign.marks):  # a fixed order, so that sums are equal in every digit
            values[f"{key}:{mark}"] = size
    return values
