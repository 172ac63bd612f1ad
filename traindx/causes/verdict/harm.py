"""Whether a run is harmed. A cause without harm is only a note, however probable it is."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from traindx.features.comparisons.predictor_gap import PredictorGap, predictor_gap
from traindx.features.curve import Curve
from traindx.features.curves.gradient_norms import is_worse_after
from traindx.features.curves.progress import is_learning
from traindx.features.curves.score_scales import best_skill, late_median, late_skills, scores
from traindx.features.curves.settled_scores import poor_settled_score
from traindx.features.shared import Features
from traindx.vocabulary import Finding, Health, Hypothesis, Run, threshold

# These cost only time, which is harm only on an accelerator that somebody pays for.
FOR_NOTHING = frozenset({"data-loader-bottleneck", "step-time-creep", "device-fallback"})
SLOW = "SYS"
STILL = frozenset(
    {"loss-flat-from-start", "metric-constant-or-impossible"}
)  # what an author says who sees no progress
KEPT = frozenset({"memory-grows", "out-of-memory"})  # these end a run on any device
OWN_SCORES = ("outputs_accuracy", "outputs_explained")  # on the training batches
# Families of findings about causes, which are notes where the model does its task.
CAUSES = ("ACT", "ARC", "DAT", "GRD", "LOP", "LRS", "PRC", "QNT", "WGT")
# How a curve got there does no harm where the end is good.
COURSES = frozenset({
    "loss-spikes-recur", "loss-spikes-and-recovers", "loss-plateaus", "loss-falls-slowly",
    "loss-stands-at-saddle", "loss-improves-too-little-noise-considered",
})  # fmt: skip
# Harm by these shows only in scores on samples that the model was not trained on.
UNSEEN = frozenset({
    "modes-disagree", "training-in-eval-mode", "validation-distribution-differs", "batches-sorted-by-class",
    "rows-sorted-by-class", "batch-repeats", "samples-duplicated", "labels-look-noisy", "labels-contradict",
    "slices-unequal", "values-missing", "features-duplicated", "classes-imbalanced",
})  # fmt: skip
# The same of causes. Accuracy hides these two: the rare classes, and samples that are in both sets.
GENERALIZATION = frozenset({
    "stale-normalization-statistics", "insufficient-regularization", "too-little-data", "unshuffled-data",
    "repeated-batch", "val-preprocessing-mismatch", "eval-mode-training", "label-noise", "quantization-gap",
})  # fmt: skip
HIDDEN = frozenset({"class-imbalance", "train-val-leakage"})
# Without a validation score, only the setup suggests these, and a setup does no harm by itself.
ONLY_VALIDATED = frozenset({"too-little-data", "insufficient-regularization", "val-preprocessing-mismatch"})
# With these, a good score does not show what the model can do, or they are the harm itself.
DECEIVING = frozenset({
    "train-and-validation-overlap", "future-leaks-into-output", "feature-predicts-target", "quantized-much-worse",
    "input-has-no-effect", "labels-make-no-difference", "samples-affect-each-other", "quantization-gap-widens",
})  # fmt: skip

OF_TARGETS = frozenset({"padding"})  # aspects of findings about what the scores count, too
# With these, part of the model or of the run trains nothing: it could be better, however good it is.
UNTRAINED = frozenset({"params-not-in-optimizer", "frozen-parameters", "learning-rate-schedule-fault"})


def stands_still(findings: Sequence[Finding]) -> bool:
    """Whether a loss has the same value in every digit throughout."""
    losses = [f for f in findings if "loss" in (f.where or "")]
    return any({"constant", "never-moved"} & set(f.aspects) and f.severity != "info" for f in losses)


def stuck_as_reported(
    run: Run,
    features: Features,
    *,
    least: float = threshold(4, "points", basis="convention", source="fewer do not show a level"),
    much: float = threshold(0.05, "of the first", basis="convention", source="more than the last digits"),
    good: float = threshold(0.9, "of the way to perfect", basis="convention", source="a score that is good"),
) -> bool:
    """Whether somebody who asks says that nothing is learned, and the rows show no more than that: a level as at
    the start, or a poor score that has settled."""
    curve = features.objective
    if not STILL & set(run.setup.word("symptoms").split(",")) or curve is None or curve.n < least:
        return False
    if best_skill(features) >= good or features.loss_is_no_score:
        return False
    gained = float(curve.as_loss[0]) - min(curve.end, float(curve.as_loss[-1]))
    begins = not any(e.code == "late-start" for e in run.events)
    still = gained <= much * abs(float(curve.as_loss[0])) if begins else np.ptp(curve.values) == 0
    return bool(still) or poor_settled_score(features) is not None


def nothing_carries_over(
    aspects: Mapping[str, frozenset[str]],
    features: Features,
    *,
    good: float = threshold(
        0.7, "of the way to perfect", basis="convention", source="a useful validation score"
    ),
) -> bool:
    """Validation is far from training, or has stopped improving while training goes on, and no
    validation score is good: converged, but not simply healthy."""
    gap = aspects.get("validation-gap-grows", frozenset())
    return bool(gap & {"stalled", "wide"}) and best_skill(features, ("val/",)) < good


def has_strong_sign(
    leading: Hypothesis,
    *,
    least: float = threshold(
        1.0, "log-odds", basis="measured", source="gym: faults without a finding have one such sign"
    ),
) -> bool:
    """Whether at least one sign is strong evidence for the leading cause: many weak ones are not enough."""
    return any(term.log_odds >= least for term in leading.for_)


def without_alarm(findings: tuple[Finding, ...], health: Health) -> tuple[Finding, ...]:
    """The findings, of which those of a healthy run are at most low: the verdict says that they did no harm."""
    if health != "healthy":
        return findings
    return tuple(f if f.severity in ("low", "info") else replace(f, severity="low") for f in findings)


def is_wasted(run: Run) -> bool:
    """Whether lost time costs little: a recording on the CPU alone."""
    return bool(run.panels) and run.setup.word("device").startswith("cpu")


def set_aside_lost_time(
    hypotheses: Sequence[Hypothesis],
    run: Run,
    *,
    least: float = threshold(
        0.05, "probability", basis="convention", source="what is left of less is mostly rounding"
    ),
) -> tuple[Hypothesis, ...]:
    """The hypotheses, given that time may be lost as well: where it costs little, it is a separate question.
    If hardly anything else is possible, it counts as health."""
    rest = tuple(h for h in hypotheses if h.cause not in FOR_NOTHING)
    share = sum(h.probability for h in rest)
    if not is_wasted(run) or len(rest) == len(hypotheses):
        return tuple(hypotheses)
    if share >= least:
        return tuple(replace(h, probability=h.probability / share) for h in rest)
    well = (h for h in rest if h.cause == "healthy")
    return tuple(replace(h, probability=h.probability + 1 - share) for h in well)


def put_fault_before_lost_time(
    hypotheses: tuple[Hypothesis, ...],
    run: Run,
    *,
    likely: float = threshold(
        0.65, "P(cause)", basis="convention", source="from here on a report says 'probably'"
    ),
) -> tuple[Hypothesis, ...]:
    """The hypotheses, where a fault that is probable apart from lost time changes places with it."""
    fault = set_aside_lost_time(hypotheses, run)[0]
    first = hypotheses[0]
    if first.cause in (fault.cause, "healthy") or fault.cause == "healthy" or fault.probability < likely:
        return hypotheses
    second = next(h for h in hypotheses if h.cause == fault.cause)
    swapped = {
        first.cause: replace(first, probability=second.probability, interval=None),
        second.cause: replace(second, probability=first.probability, interval=None),
    }
    changed = (swapped.get(h.cause, h) for h in hypotheses)
    return tuple(sorted(changed, key=lambda h: -h.probability))


def is_note(finding: Finding, run: Run, features: Features) -> bool:
    """Whether a finding is about a cause, or how the curve got there, and did no harm: the model does its task."""
    related = finding.code.startswith(CAUSES) or finding.slug in COURSES
    if not related or finding.slug in DECEIVING or OF_TARGETS & set(finding.aspects):
        return False
    return does_task(run, features, on_new_samples=finding.slug in UNSEEN)


def does_task(
    run: Run,
    features: Features,
    *,
    on_new_samples: bool = False,
    good: float = threshold(0.9, "of the way to perfect", basis="convention", source="a useful result"),
) -> bool:
    """Whether nearly all outputs are right at the end, and so is every validation score. `on_new_samples`: False
    also where neither a validation score nor a validation loss shows it."""
    unknown = 0.0 if on_new_samples and not carries_over(features) else 1.0
    return is_good(run, features) and min(late_skills(features, "val/"), default=unknown) >= good


def carries_over(
    features: Features,
    *,
    good: float = threshold(
        0.9, "of the way to the training loss", basis="convention", source="a useful result"
    ),
    least: float = threshold(3, "points", basis="convention", source="a start, an end and a point between"),
) -> bool:
    """Whether validation has come as low as training. The way begins at the lower of the first losses: samples
    that are prepared differently can begin anywhere."""
    held, trained = features.curve("val/loss"), features.curve("train/loss")
    if held is None or trained is None or min(held.n, trained.n) < least:
        return False
    first = min(held.start, trained.start)
    return trained.end < first and first - held.end >= good * (first - trained.end)


def is_calibrated(
    run: Run,
    features: Features,
    *,
    less: float = threshold(
        0.05,
        "accuracy",
        basis="convention",
        source="its probabilities promise this much less than it reaches",
    ),
) -> bool:
    """Whether the loss is as low as the accuracy allows: that of a model which is as sure as it is right, for an
    accuracy lower by `less`."""
    accuracy, loss = late_level(features, "outputs_accuracy"), late_level(features, "outputs_cross_entropy")
    if accuracy is None or loss is None:
        return True
    wrong = min(1.0, 1.0 - accuracy + less)
    others = math.log(max(2, run.setup.classes or 2) - 1)
    return loss <= wrong * (others - math.log(wrong)) - (1 - wrong) * math.log(max(1 - wrong, 1e-9))


def falls_short(
    run: Run,
    features: Features,
    *,
    half: float = threshold(
        0.5, "of the gain of simple predictors", basis="convention", source="most of it is missing"
    ),
) -> PredictorGap | None:
    """What simple predictors reach, where the model gains less than half as much over the most frequent answer."""
    found = gaps(run, features)
    return found[0] if found and max(gap.share for gap in found) < half else None


def works(run: Run, features: Features) -> bool:
    """Whether the model does its task, as far as the run shows: by its scores compared with simple
    predictors, or by its loss where there are none. True where no number of this kind of training shows
    it."""
    if features.loss_is_no_score or is_good(run, features):
        return True
    well = learns_well(run, features)
    return is_learning(features) is True if well is None else well


def learns_well(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.98, "of the gain of simple predictors", basis="theory", source="as good, or better"
    ),
) -> bool | None:
    """Whether the model is at least as good as simple predictors fitted on the same samples; None where
    there are none to compare with."""
    found = gaps(run, features)
    return any(gap.share >= beyond for gap in found) if found else None


def gaps(run: Run, features: Features) -> list[PredictorGap]:
    """The model compared with simple predictors, on training and on validation samples; empty where there are
    none."""
    if features.is_game:
        return []
    both = (predictor_gap(run, features), predictor_gap(run, features, "val/accuracy"))
    return [gap for gap in both if gap is not None]


def late_level(
    features: Features,
    name: str,
    *,
    final: float = threshold(1 / 3, "of the run", basis="convention", source="as the levels of signals"),
    share: float = threshold(
        0.1, "of the earlier loss", basis="convention", source="as gradient-norm-explodes"
    ),
    score: float = threshold(4.0, "x noise", basis="convention", source="as gradient-norm-explodes"),
) -> float | None:
    """The late level of a signal. None where it was last measured before the final part of the run, unless
    the objective shows that the model is no worse than it was then."""
    curve, first, last = features.curve(name), features.run.first_step, features.run.last_step
    if curve is None or not curve.n or first is None or last is None:
        return None
    measured, objective = float(curve.steps[-1]), features.objective
    if measured >= last - final * (last - first):
        return late_median(curve)
    lost = objective is None or is_worse_after(objective, measured, share=share, score=score)
    return None if lost else late_median(curve)


def is_good(
    run: Run,
    features: Features,
    *,
    good: float = threshold(0.9, "of the way to perfect", basis="convention", source="a useful result"),
) -> bool:
    """Whether nearly all of its outputs are right at the end, counted from the most frequent answer."""
    base = run.setup.number("reference_trivial_accuracy") or 0.0
    accuracy, explained = (late_level(features, name) for name in OWN_SCORES)
    if accuracy is not None and accuracy - base >= good * (1 - base):
        return True
    explained = explained_by_loss(run, features) if explained is None else explained
    return explained is not None and explained >= good


def loss_in_raw_units(
    run: Run,
    features: Features,
    *,
    first: float = threshold(
        1e4,
        "loss",
        basis="convention",
        source="no mean of cross-entropies or of standardized squares begins there",
    ),
    last: float = threshold(
        1e3, "loss", basis="convention", source="the variance of raw targets may be more"
    ),
) -> Curve | None:
    """The loss of a run that began and ended as high as that of raw targets, where nothing shows what a good one is: no
    score, no simple predictor, no spread of the targets. It falls as far while a model only learns their mean."""
    curve = features.objective
    if curve is None or not curve.name.endswith("loss") or curve.start < first or curve.end < last:
        return None
    if features.loss_is_no_score or features.is_reinforcement or gaps(run, features):
        return None
    scored = any(scores(features, split, 1) for split in ("val/", "train/"))
    known = run.setup.known("targets_std") or any(features.curve(name) for name in OWN_SCORES)
    return None if scored or known else curve


def explained_by_loss(
    run: Run,
    features: Features,
    *,
    same: float = threshold(
        0.2, "of the first loss", basis="convention", source="the outputs begin near zero"
    ),
    units: float = threshold(
        10.0, "of the targets' square", basis="convention", source="as targets-not-normalized"
    ),
) -> float | None:
    """The share of the targets' variance that the loss leaves no more, where no outputs were measured and the
    loss is a squared error: in raw units, outputs begin near zero, so the first loss is the mean square."""
    spread, mean = run.setup.number("targets_std"), run.setup.number("targets_mean_abs") or 0.0
    loss = features.curve("train/loss")
    if loss is None or not loss.n or not spread or run.setup.word("loss_name"):
        return None
    square = spread**2 + mean**2
    if square < units or abs(float(loss.values[0]) - square) > same * square:
        return None
    return 1.0 - late_median(loss) / spread**2
