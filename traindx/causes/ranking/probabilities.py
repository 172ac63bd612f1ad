"""From the scores of causes to published probabilities: no more certain than results on unseen programs
allow.

Some log-odds count only for logs, in addition to the weights fitted on recordings. A recording shows every
module; a log shows a curve or two, often of a few lines. The terms here are added for runs without recorded
modules, and all their evidence is scaled by what such a log can support. The fitted weights, and the signs
that they were fitted on, are not affected. The terms were set by hand and checked on one half of the
labelled logs (docs/benchmarks.md)."""

from collections.abc import Mapping, Sequence
from math import fsum  # gives the same sum in any order

import numpy as np

from traindx.causes.ranking.distance import Temper
from traindx.causes.ranking.signs import GRAVITY, GROUP_OF, Sign
from traindx.features.shared import Features
from traindx.vocabulary import Floats, Run

# No cause gets a higher probability: a few hundred fitted programs cannot support more (rule of succession).
CEILING = 0.99
# How often a run has a second fault next to the first; sets how the rest of the probability is shared.
# Measured on the gym's pairs of faults by held-out settings, among 0.02 to 5; most runs have one fault.
SECOND = 0.02


def softmax(scores: Floats) -> Floats:
    """The probability of each cause by its log-odds."""
    odds = np.exp(scores - scores.max())
    return np.asarray(odds / odds.sum())


def flatten_probabilities(scores: Floats, temper: Temper, distance: float, causes: Sequence[str]) -> Floats:
    """Probabilities of a recording at `distance` from the fitted runs: part of them goes to the usual
    causes."""
    share = float(temper.share(distance))
    usual = np.array([temper.usual.get(cause, 0.0) for cause in causes])
    return np.asarray((1 - share) * softmax(scores) + share * usual)


def explained_groups(terms: Mapping[str, float], signs: Mapping[str, Sign], least: float) -> frozenset[str]:
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


def cap_probabilities(probabilities: Floats) -> Floats:
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


# Of a score that was computed wrongly, or a loss that was not: it does not show how the model learns.
NOT_ABOUT_TRAINING = {
    "healthy": 1.2, "learning-rate-too-high": -1.3, "class-imbalance": -1.2, "fully-masked-labels": -0.8,
    "wrong-loss": -0.6, "half-precision-range": -0.5, "val-preprocessing-mismatch": -0.5,
}  # fmt: skip
# Log-odds of causes by sign ("slug", "slug:aspect" or "fact:name"); those of a finding are multiplied by its strength
# and gravity.
TERMS: Mapping[str, Mapping[str, float]] = {
    "validation-gap-grows": {"healthy": -1.8, "insufficient-regularization": 0.6, "too-little-data": 0.3},
    "validation-gap-grows:metric-improves": {"healthy": 1.2, "too-little-data": -0.5},
    "validation-gap-grows:wide": {"val-preprocessing-mismatch": 0.5},
    "loss-not-finite": {"healthy": -2.5, "learning-rate-too-high": 0.9},
    # What prints 0 for NaN is a trainer of large pre-trained models, which were often not made for fp16.
    "loss-not-finite:printed-as-zero": {"half-precision-range": 2.5, "fully-masked-labels": 1.0},
    # Forward it is finite: a gradient left the range of its format, or one batch is wrong.
    "gradient-not-finite:isolated": {"half-precision-range": 2.0, "corrupt-samples": 1.5},
    "loss-not-finite:recovered": {"corrupt-samples": 1.2, "unstable-numerics": 0.8},
    "loss-diverges": {"healthy": -0.8, "insufficient-capacity": -1.5},
    # A validation loss alone that rises slowly: so it does where a model overfits.
    "loss-diverges:held-out": {
        "insufficient-regularization": 6.0, "too-little-data": 4.0, "learning-rate-too-high": -2.0,
        "missing-warmup": -2.0, "missing-zero-grad": -2.0,
    },
    "loss-diverges:short": {"learning-rate-too-high": 0.6},
    # Any net that learns is better than guessing, however small it is.
    # With imbalanced classes, one prediction for all samples gives a loss below ln k.
    "loss-at-chance": {
        "healthy": -0.5, "insufficient-capacity": -2.5, "dropout-too-high": -1.0, "class-imbalance": -2.5,
        "learning-rate-too-high": 0.6, "unshuffled-data": -1.0,
    },
    "loss-at-chance:frozen": {
        "learning-rate-too-high": 2.0, "dead-relus": 1.0, "insufficient-capacity": -2.0,
    },
    "loss-at-chance:score": {
        "undertrained": 1.8, "learning-rate-too-high": 1.0, "learning-rate-too-low": 1.2,
        "misaligned-labels": 1.2,
    },
    # All embeddings are drawn to one point by steps that are too large for hard triplets.
    "loss-at-chance:collapsed": {
        "learning-rate-too-high": 3.0, "bad-initialization": -0.5, "learning-rate-too-low": -2.0,
        "unnormalized-inputs": -1.0, "class-imbalance": -1.0,
    },
    "loss-at-chance:rare-class": {
        "class-imbalance": 5.0, "learning-rate-too-high": -1.0, "misaligned-labels": -1.5, "unshuffled-data": -1.0,
    },
    # One step, and then the same digits: saturated or dead. With a rate that is too low the last digits
    # change.
    "loss-flat-from-start:froze": {
        "learning-rate-too-high": 2.0, "dead-relus": 1.0, "saturating-activations": 1.0,
        "wrong-output-activation": 0.8,
        "learning-rate-too-low": -4.0, "undertrained": -3.0, "healthy": -2.0,
    },
    # More of the same steps would not have made it worse.
    "loss-flat-from-start:rose": {
        "learning-rate-too-high": 2.0, "undertrained": -2.0, "learning-rate-too-low": -2.0, "bad-initialization": -1.0,
    },
    "gradient-norm-spikes": {"healthy": -1.0, "learning-rate-too-high": 0.8},
    "step-waits-for-data": {"data-loader-bottleneck": 2.0, "healthy": -0.5},
    "relu-units-dead": {"dead-relus": 2.5},
    "loss-flat-from-start:score": {"learning-rate-too-low": 0.8, "undertrained": 0.8},
    "loss-improves-too-little-noise-considered": {
        "batch-too-small": -4.0, "undertrained": 1.0, "healthy": -4.0,
    },
    "loss-scale-collapses": {"half-precision-range": 0.8, "corrupt-samples": -1.5},
    "half-precision-overflows": {"half-precision-range": 0.8, "corrupt-samples": -1.5},
    "validation-missing": {"healthy": -1.5, "insufficient-regularization": 1.0, "too-little-data": 0.5},
    "steps-skipped-often": {"half-precision-range": 0.8, "corrupt-samples": -1.5},
    "metric-constant-or-impossible": {"healthy": -1.2, "learning-rate-too-high": 0.8},
    # Batches differ, so their losses differ if the model sees them: the inputs or the weights have no
    # effect. Steps that are too large change the digits.
    "metric-constant-or-impossible:loss": {
        "params-not-in-optimizer": 1.5, "dead-relus": 1.0, "bad-initialization": 1.0, "detached-graph": 1.5,
        "frozen-parameters": 1.2, "missing-optimizer-step": 1.2,
        "unshuffled-data": -2.0, "unnormalized-inputs": -1.0, "learning-rate-too-high": -0.8, "wrong-loss": -1.5,
    },
    # Somebody who complains of the score alone sees the loss fall.
    "metric-constant-or-impossible:said": {
        "misaligned-labels": 6.0, "val-preprocessing-mismatch": 4.0, "learning-rate-too-high": -3.0,
    },
    "metric-constant-or-impossible:trained": {"val-preprocessing-mismatch": -6.0, "wrong-loss": 2.0},
    "predictions-collapse:said": {"class-imbalance": 3.0, "learning-rate-too-high": 1.0, "healthy": -2.0},
    "loss-jumps-on-resume:said": {"resume-without-state": 3.0, "healthy": -2.0},
    "discriminator-wins:said": {"unbalanced-opponents": 2.5},
    "posterior-collapses:one-row": {"unbalanced-loss-terms": 2.5, "healthy": -2.0},
    "posterior-collapses:said": {"unbalanced-loss-terms": 3.0},
    "step-time-creeps:said": {"step-time-creep": 2.0},
    # On the same samples nothing has to generalize.
    "modes-disagree": {"insufficient-regularization": -4.0, "too-little-data": -4.0},
    "metric-constant-or-impossible:zero": {"learning-rate-too-high": 1.2, "half-precision-range": 1.0},
    # Training went on without the column, or the score was computed wrongly: neither says how the model learns.
    "metric-constant-or-impossible:uncomputed": NOT_ABOUT_TRAINING,
    "metric-constant-or-impossible:off-scale": NOT_ABOUT_TRAINING,
    # What is 0 from the first point on was not computed; no step made it so.
    "metric-constant-or-impossible:parts": {"fully-masked-labels": 2.5, "learning-rate-too-high": -2.0},
    "metric-constant-or-impossible:empty": {
        "fully-masked-labels": 3.5, "class-imbalance": -2.0, "half-precision-range": -2.0,
    },
    "metric-constant-or-impossible:below-zero": {
        "wrong-output-activation": 2.5, "wrong-loss": 2.5, "misaligned-labels": 1.5,
    },
    # Validation that was never better than at first had nothing to lose by overfitting.
    "fact:validation-never-improves": {"val-preprocessing-mismatch": 1.2, "too-little-data": -0.4},
    # Outputs of exactly 0 and 1 do change, but no step brings them back.
    "fact:clamped-loss": {
        "unnormalized-inputs": 1.5, "wrong-output-activation": 1.0, "bad-initialization": -1.0,
        "params-not-in-optimizer": -2.0, "undertrained": -2.0,
    },
    # A log of times or of memory shows nothing else.
    "memory-grows": {"memory-leak": 3.0, "healthy": -1.5},
    "step-time-creeps": {"step-time-creep": 2.0, "healthy": -1.0},
    "discriminator-wins": {"healthy": -1.5},
    "learning-rate-jumps:breaks": {
        "learning-rate-too-high": 3.0, "learning-rate-schedule-fault": 2.0, "unstable-numerics": -1.5,
    },
    "loss-spikes-recur:rate-rises": {"learning-rate-too-high": 5.0, "corrupt-samples": -3.0, "healthy": -1.0},
    "loss-spikes-recur:same-batch": {"corrupt-samples": 2.5, "learning-rate-too-high": -2.0, "healthy": -0.5},
    "loss-oscillates:no-progress": {"learning-rate-too-high": 0.8},
}  # fmt: skip

LOG, LITTLE = (
    0.9,
    0.3,
)  # share of the evidence that counts: for a log, and for one where nothing could be judged
# Log-odds of health that are lost for what an author says is wrong, where the log does not show the opposite.
SAID = 1.5
LEAST = 3  # a curve of the objective with fewer points shows nothing


def rules_in_description(run: Run) -> list[str]:
    """The rules that would see what the author says is wrong, or describes of the program."""
    return f"{run.setup.word('symptoms')},{run.setup.word('described')}".replace(",", " ").split()


def log_terms(signs: Mapping[str, Sign], run: Run) -> dict[str, dict[str, float]]:
    """cause -> sign -> what it adds to the log-odds; nothing for a recording."""
    added: dict[str, dict[str, float]] = {}
    if run.panels:
        return added
    for slug in rules_in_description(run):
        found = (s for s in signs.values() if s.held and "=" not in s.key)
        related = any(s.group == GROUP_OF.get(slug, slug) for s in found)
        if slug not in signs or related:
            added.setdefault("healthy", {})[slug] = -SAID
    for key, by_cause in TERMS.items():
        fact = key.startswith("fact:")
        subject, _, aspect = (key, "", "") if fact else key.partition(":")
        sign = signs.get(subject)
        if sign is None or not sign.held or (aspect and aspect not in sign.marks):
            continue
        size = 1.0 if fact else max(sign.strength, 0.5) * GRAVITY[sign.severity]
        for cause, weight in by_cause.items():
            terms = added.setdefault(cause, {})
            terms[subject] = terms.get(subject, 0.0) + weight * size
    return added


def evidence_share(signs: Mapping[str, Sign], run: Run, features: Features) -> float:
    """The share of the evidence that counts: all of it for a recording, little where no curve could be
    judged and no rule fired, so that facts about the setup alone name no cause."""
    if run.panels or run.axis == "sample":
        return 1.0
    seen = any(
        s.held and s.severity != "info" and "=" not in s.key and not s.key.startswith("fact:")
        for s in signs.values()
    )
    error = signs.get("fact:ended-in-error")
    curve = features.objective
    judged = curve is not None and len(curve.raw) >= LEAST and not features.is_duel
    return LOG if judged or seen or (error is not None and error.held) else LITTLE
