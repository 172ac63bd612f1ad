"""A score that has stopped improving at a useless value, or has fallen back from a better one."""

from traindx.features.curve import Curve
from traindx.features.curves.score_scales import ERRORS, HARD, late_median, scale_of, scores, skill, words_of
from traindx.features.shared import Features
from traindx.features.statistics import block_medians, median, median_error
from traindx.vocabulary import threshold

BLOCKS = 20
OVERLAPS = frozenset({"iou", "miou", "dice", "jaccard", "f1", "fscore"})


def poor_settled_score(
    features: Features,
    *,
    poor: float = threshold(
        0.4, "of the way to perfect", basis="convention", source="an accuracy too low to be useful"
    ),
    none: float = threshold(
        0.05, "of the way to perfect", basis="convention", source="mAP and BLEU of good models are low too"
    ),
    least: float = threshold(
        5, "points", basis="convention", source="fewer do not show that it has settled"
    ),
    moves: float = threshold(
        0.03, "of the scale", basis="convention", source="an improvement worth waiting for"
    ),
    fair: float = threshold(
        0.15, "of the way to perfect", basis="convention", source="an overlap that finds almost nothing"
    ),
) -> Curve | None:
    """The validation score (or training score, where there is none) that has stopped improving at a poor
    value. The run is not healthy then, even if no rule fired."""
    for split in ("val/", "train/"):
        found = scores(features, split, int(least))
        rests = []
        for curve in found:
            scale = scale_of(curve.name, curve.values, features.run.setup.classes)
            assert scale is not None
            level = late_median(curve)
            known = skill(level, scale)
            share = known if known is not None else level / scale.perfect
            words = words_of(curve.name)
            bar = poor if words & (HARD | ERRORS) else fair if words & OVERLAPS else none
            size = abs(scale.perfect - (scale.nothing or 0.0)) or 1.0
            before = float(median(curve.as_loss[curve.n // 3 : curve.n // 3 + 3]))
            if share < bar and before - float(median(curve.as_loss[-3:])) < moves * size:
                rests.append(curve)
        if found:
            return rests[0] if 2 * len(rests) >= len(found) else None
    return None


def score_fallen_back(
    features: Features,
    *,
    least: float = threshold(100, "points", basis="convention", source="a block of five points has a level"),
    much: float = threshold(
        0.1, "of the scale", basis="convention", source="a tenth more samples are wrong"
    ),
    surely: float = threshold(
        5.0, "x standard error", basis="theory", source="the best of twenty is no chance"
    ),
) -> Curve | None:
    """The score that was better for a twentieth of the run than it is at the end, by much; None for none."""
    for curve in [c for split in ("val/", "train/") for c in scores(features, split, int(least))]:
        scale = scale_of(curve.name, curve.values, features.run.setup.classes)
        blocks = block_medians(curve.as_loss, BLOCKS)
        size = 1.0 if scale is None else abs(scale.perfect - (scale.nothing or 0.0))
        noise = median_error(curve.noise, curve.n // BLOCKS)
        if blocks[-1] - blocks.min() > max(much * size, surely * noise):
            return curve
    return None
