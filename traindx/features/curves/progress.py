"""Does the run learn? The inside of a net proves nothing where its objective shows that it does."""

import math

import numpy as np

from traindx.features.comparisons.outputs_of_loss import summed_losses
from traindx.features.curve import Curve
from traindx.features.curves.generalization import kendall
from traindx.features.curves.gradient_norms import share_lost
from traindx.features.curves.plateaus import improvement
from traindx.features.curves.signal_pairs import accuracy
from traindx.features.shared import Features
from traindx.features.statistics import median, median_error, slope
from traindx.vocabulary import Run, Setup, Severity, threshold

FEW = 20  # points below which a flat start is no verdict
YOUNG = 100  # steps of an optimizer below which that none of them helped yet is no verdict
GOOD_SCORE, GOOD_SKILL, POOR_SKILL = 0.8, 0.5, 0.25  # accuracy; share of the way from its first value to 1
GOOD_SHARE, LITTLE_SHARE = 0.5, 0.35  # of the first loss gone
STILL = 0.02  # of the level: what flat runs move (as loss-flat-from-start)
NEAR_GUESSING, FAR_FROM_GUESSING = 0.9, 0.6  # x the loss of the best constant answer
WORSE = 0.1  # of the first loss


def is_learning(features: Features) -> bool | None:
    """True when the objective shows that the run learns, False when it is flat, poor or broken, None
    when that is unclear. Conservative both ways: what is in between is None.

    Looked at in this order: a loss that ends not finite (False); an accuracy that is good (True) or stays
    poor (False); a loss at or above that of the best constant answer, ln k or the variance of the
    targets, where these are known (False); a loss that ended clearly above its start, or never moved by 2 %
    (False); half of the first loss gone, or far below the constant answer (True).
    """
    curve = features.objective
    if curve is None or len(curve.raw) == 0:
        return None
    if ends_not_finite(curve):
        return False
    if features.loss_is_no_score:
        return None
    guess = constant_answer_loss(features, curve)
    guesses = guess is not None and curve.n > 0 and curve.end >= NEAR_GUESSING * guess
    skill = learnt_skill(features)
    if (skill is None or skill < GOOD_SKILL) and is_too_short(features.run):
        return True if skill is None and (judge_by_fall(curve) if curve.n >= FEW else None) else None
    if skill is not None:
        poor = skill < POOR_SKILL and (guesses or share_lost(curve) < LITTLE_SHARE)
        return True if skill >= GOOD_SKILL else False if poor else None
    if curve.n < FEW:
        return None
    if guesses:
        return False
    if guess is not None and curve.end <= FAR_FROM_GUESSING * guess:
        return True
    unknown = zero_is_unknown(features.run)
    found = judge_by_fall(curve, zero_known=not unknown)
    far = grey(features.run.setup) or unknown  # its best may be far from zero
    return None if found is False and far and clearly_falls(curve) else found


def is_too_short(run: Run) -> bool:
    """Whether a recording has too few steps for a net to have learned anything."""
    return bool(run.panels) and run.axis == "step" and run.last_step is not None and run.last_step < YOUNG


def ends_not_finite(curve: Curve) -> bool:
    """Whether the objective ends with values that are not finite."""
    return not bool(np.isfinite(curve.raw.values[-min(3, len(curve.raw)) :]).any())


def learnt_skill(features: Features) -> float | None:
    """How far the better of the accuracies came from its first value to 1, as a share; 1 where it ends
    good. None where no accuracy is logged often enough."""
    skills: list[float] = []
    for split in ("val/", "train/"):
        values = accuracy(features, split)
        if values is not None and len(values) >= 3:
            end = float(median(values[-max(1, len(values) // 4) :]))
            skills.append(1.0 if end >= GOOD_SCORE else (end - values[0]) / max(1.0 - values[0], 1e-9))
    return max(skills, default=None)


def constant_answer_loss(features: Features, curve: Curve) -> float | None:
    """The loss of the best constant answer: ln k for cross-entropy over k classes, the variance of the
    targets for a squared error, times the batch where the loss is a sum over it. None where it is not known
    (losses of several terms, binary ones on targets between 0 and 1)."""
    setup = features.run.setup
    loss, summed = setup.word("loss_name") or setup.word("loss"), setup.word("loss_reduction") == "sum"
    times = setup.number("batch_size") if summed else 1.0
    if not curve.name.endswith("loss") or "+" in setup.word("loss") or grey(setup) or times is None:
        return None
    classes, spread = setup.number("classes"), setup.number("targets_std")
    if "mse" in loss and spread and setup.number("targets_features") in (None, 1):
        return times * spread**2
    if classes is not None and classes > 1 and ("entropy" in loss or "nll" in loss or not loss):
        return max(times, summed_losses(features)) * math.log(classes)
    return None


def grey(setup: Setup) -> bool:
    """Whether a binary cross-entropy has targets between 0 and 1: the best it can reach is then far above
    zero, and a fall that is small against its level may be all there is."""
    loss = setup.word("loss_name") or setup.word("loss")
    return "binary" in loss and setup.flag("targets_binary") is False


def zero_is_unknown(run: Run) -> bool:
    """Whether a recording saw neither a known loss nor targets. The level of such a loss has no meaning: a
    likelihood of many numbers may start at a thousand and end there, and have learned all there is."""
    known = run.setup.word("loss") or run.setup.known("targets_std") or run.setup.known("classes")
    return bool(run.panels) and not known


def improves_clearly(
    curve: Curve,
    *,
    least: float = threshold(3, "points", basis="convention", source="two points show no trend"),
    much: float = threshold(
        0.1, "of the first", basis="convention", source="few points must improve each time, by this"
    ),
    most: float = threshold(
        0.9, "of the first", basis="convention", source="three points must improve each time, by this"
    ),
    surely: float = threshold(4.0, "x standard error", basis="theory", source="a slope clear of noise"),
    some: float = threshold(
        10, "points", basis="theory", source="of 10 in any order, 1 in 2,000 has tau -0.8"
    ),
    ordered: float = threshold(-0.8, "Kendall's tau", basis="theory", source="9 of 10 pairs fall"),
    mostly: float = threshold(
        -0.7, "Kendall's tau", basis="theory", source="of 6 in any order, 1 in 36 has less"
    ),
    large: float = threshold(
        0.3, "of the first", basis="convention", source="visible in a plot of few points"
    ),
) -> bool:
    """Whether even a short curve clearly improves. Three points are the whole of some trainings: an optimizer
    such as L-BFGS evaluates many times within a step."""
    if curve.n < least:
        return False
    y = curve.as_loss
    enough = (most if curve.n == least else much) * abs(float(y[0]))
    if curve.n < 2 * least + 2 and float(np.diff(y).max()) < 0 and y[0] - y[-1] > enough:
        return True
    # A steep start bends the curve, so that a line through it has a large error however steadily it falls.
    if curve.n >= some and kendall(y) <= ordered and y[0] - y[-1] > much * abs(float(y[0])):
        return True
    if 2 * least <= curve.n < some and kendall(y) <= mostly and y[0] - y[-1] > large * abs(float(y[0])):
        return True
    fit = slope(y)
    return bool(fit.change < -surely * fit.error)


def clearly_falls(curve: Curve) -> bool:
    """Whether the objective got better by more than its noise explains."""
    fall, error = improvement(curve)
    return fall > 3 * error


def judge_by_fall(curve: Curve, *, zero_known: bool = True) -> bool | None:
    """What the fall of the objective says by itself. Where zero is not known to be the best, its size counts
    against the noise, as that of a loss below zero does."""
    level = float(median(np.abs(curve.values)))
    fall, error = improvement(curve)
    gone = share_lost(curve)
    doubt = max(error, median_error(curve.noise, max(3.0, curve.n / 20)))
    if fall < 0 and gone < -WORSE and curve.end - curve.start > 3 * doubt:
        return False
    clear = not zero_known and fall > 3 * error  # a part of a level that means nothing is no measure
    if abs(fall) <= STILL * level and error <= 2 * STILL * level and not clear:
        return False
    positive = curve.sign > 0 and curve.start > 0
    if positive and zero_known and gone >= GOOD_SHARE:
        return True
    gained = curve.start - curve.end
    return True if not (positive and zero_known) and gained > 8 * max(curve.spread, 1e-12) else None


def progress_severity(
    features: Features, *, stuck: Severity, unknown: Severity, learns: Severity
) -> Severity:
    """How serious something is by what became of the run: it does not learn, that is unclear, or it
    learns well."""
    learning = is_learning(features)
    return learns if learning else unknown if learning is None else stuck


def searches_within_steps(run: Run) -> bool:
    """Whether a step makes many updates, as those of L-BFGS do: up to 20 in PyTorch."""
    return "lbfgs" in run.setup.word("optimizer").lower()
