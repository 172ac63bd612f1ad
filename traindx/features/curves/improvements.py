"""Measures that improve while a loss rises: then the loss has changed, not what the network can do."""

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.score_scales import scale_of
from traindx.features.shared import Features
from traindx.features.statistics import difference_noise, median, median_error
from traindx.vocabulary import threshold


def curve_improving_meanwhile(
    features: Features,
    curve: Curve,
    onset: float,
    *,
    least: float = threshold(8, "points", "convention", "fewer do not show a trend"),
    share: float = threshold(0.1, "of what was missing", "convention", "a tenth fewer errors"),
    clear: float = threshold(4.0, "x standard error", "theory", "no noise"),
) -> Curve | None:
    """An accuracy, or the validation loss of a training loss, that clearly improved from the onset of the rise to the
    end, and ends near its best: a network that diverges loses them, too."""
    names = [n for n in features.run.series if n.endswith("/accuracy")]
    for name in (*names, *(["val/loss"] if curve.name == "train/loss" else [])):
        other = features.curve(name)
        later = np.empty(0) if other is None else other.as_loss[other.steps >= onset]
        if other is None or len(later) < least:
            continue
        scale = scale_of(name, other.values)
        missing = later - (scale.perfect * other.sign if scale is not None else features.floor(name))
        first, *_, last = np.array_split(missing, 4)
        gained, level = float(median(first)) - float(median(last)), float(median(first))
        error = median_error(difference_noise(missing), len(last)) * np.sqrt(2)
        if gained > max(clear * error, share * level) and level > 0:
            return other
    return None


def validation_holds(
    features: Features,
    curve: Curve,
    onset: float,
    *,
    least: float = threshold(4, "points", "convention", "a level before and one after the rise"),
    share: float = threshold(0.1, "of the training loss's rise", "convention", "next to nothing"),
    learned: float = threshold(0.1, "of the level", "convention", "it has something to lose"),
) -> Curve | None:
    """The validation loss, if it had fallen and did not follow the rise of the training loss: what changed is how
    training samples are made (mixed images are switched off near the end), not the network."""
    other = features.curve("val/loss")
    if curve.name != "train/loss" or other is None or curve.best <= 0:
        return None
    before, after = (other.as_loss[mask] for mask in (other.steps <= onset, other.steps > onset))
    if min(len(before), len(after)) < least:
        return None
    level, now = float(median(before[-int(least) :])), float(median(after[-int(least) :]))
    risen = (curve.end - curve.best) / curve.best
    fell = float(before[0]) - level > learned * abs(level)
    return other if level > 0 and fell and now - level < share * risen * level else None


def accuracy_best_at_end(
    features: Features,
    *,
    good: float = threshold(0.9, "accuracy", "convention", "nearly all answers are right"),
) -> Curve | None:
    """An accuracy of a short log that ends at its best, which is good."""
    for curve in filter(None, (features.curve(f"{split}/accuracy") for split in ("train", "val"))):
        scale = scale_of(curve.name, curve.values)
        if (
            curve.n > 2
            and scale is not None
            and curve.values[-1] >= max(good * scale.perfect, curve.values.max())
        ):
            return curve
    return None


def lost_decades(curve: Curve, end: float, lost: float, decade: float, noise: float) -> bool:
    """Whether a positive loss that had fallen to a tenth and less has lost half of that fall as seen on a
    log scale, beyond the scatter of its logarithm."""
    y = curve.as_loss
    if y.min() <= 0 or curve.start < decade * curve.best or curve.best <= 0 or end <= 0:
        return False
    rise, gained = float(np.log(end / curve.best)), float(np.log(curve.start / curve.best))
    scatter = difference_noise(np.log(y))
    return rise > max(lost * gained, noise * scatter)
