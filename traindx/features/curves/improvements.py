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
