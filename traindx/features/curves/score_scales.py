"""What a score's own scale says: what knowing nothing gives, what is perfect, and what cannot be."""

import math

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.signal_pairs import metrics
from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Floats

SHARES = frozenset({
    "accuracy", "acc", "acc1", "acc5", "top1", "top5", "f1", "auc", "auroc", "auprc", "precision", "recall", "map",
    "map50", "ap", "ap50", "ap75", "iou", "miou", "dice", "bleu", "sensitivity", "specificity", "jaccard", "rouge",
    "rouge1", "rouge2", "rougel", "rougelsum", "bleu4", "sacrebleu", "pck", "hmean", "prauc", "aucpr", "rocauc", "em",
    "fscore", "uas", "las", "map75",
})  # fmt: skip
ERRORS = frozenset({"wer", "cer", "ter"})
HALF = frozenset({"auc", "auroc", "rocauc"})  # a coin gives one half
HARD = frozenset({"accuracy", "acc", "acc1", "acc5", "top1", "top5"})  # a guess gives 1/k
EXTREMES = frozenset({"best", "max", "min", "std"})  # a running best repeats itself for good reason
OFTEN = 1.5  # a share is never above 1: from here on the numbers are percent


class Scale(msgspec.Struct, frozen=True):
    """In the unit as it is logged: what a model that knows nothing gets (None: not known) and a perfect one,
    and the values `low` and `high` that nothing goes beyond."""

    nothing: float | None
    perfect: float
    low: float
    high: float


def words_of(name: str) -> frozenset[str]:
    """The words of a signal's last name."""
    last = name.rsplit("/", 1)[-1].lower()
    return frozenset("".join(c if c.isalnum() else " " for c in last).split())


def scale_of(name: str, values: Floats, classes: int | None = None) -> Scale | None:
    """The scale of a score by its name and values (finite); None where its name says nothing of one."""
    words = words_of(name)
    if words & EXTREMES or "loss" in words or not len(values):
        return None  # a part of a loss (`loss_iou`) is no score
    unit = 100.0 if float(np.max(values)) > OFTEN else 1.0
    if words & ERRORS:
        return Scale(unit, 0.0, 0.0, math.inf)
    if words & HALF:
        return Scale(unit / 2, unit, 0.0, unit)
    if words & SHARES:
        guess = unit / classes if classes and classes > 1 else None
        return Scale(guess if words & HARD else 0.0, unit, 0.0, unit)
    if words & {"r2", "nse"} or {"explained", "variance"} <= words:
        return Scale(0.0, 1.0, -math.inf, 1.0)
    if words & {"kappa", "mcc", "matthews"}:
        return Scale(0.0, 1.0, -1.0, 1.0)
    if words & {"perplexity", "ppl"}:
        return Scale(None, 1.0, 1.0, math.inf)
    return None


def skill(level: float, scale: Scale) -> float | None:
    """How far a level is on the way from knowing nothing (0) to perfect (1); None where that is not
    known."""
    if scale.nothing is None or scale.nothing == scale.perfect:
        return None
    return (level - scale.nothing) / (scale.perfect - scale.nothing)


def late_median(curve: Curve) -> float:
    """The median of a curve's last third, of three points at least: what a score has come to."""
    return float(median(curve.values[-max(3, curve.n // 3) :]))


def scores(features: Features, split: str, least: int) -> list[Curve]:
    """The split's scores with a scale and at least `least` points."""
    found = []
    for name in metrics(features.run.series, split):
        if features.is_duel and words_of(name) & HARD:
            continue  # the discriminator's: one half is what both players are after
        curve = features.curve(split + name)
        if curve is not None and curve.n >= least and scale_of(curve.name, curve.values) is not None:
            found.append(curve)
    return found


def best_skill(features: Features, splits: tuple[str, ...] = ("val/", "train/")) -> float:
    """How far the best score of the splits has come from knowing nothing (0, also where there is none) to
    perfect (1)."""
    return max((share for split in splits for share in late_skills(features, split)), default=0.0)


def late_skills(features: Features, split: str) -> list[float]:
    """How far each score of a split has come from knowing nothing (0) to perfect (1). A score whose guess is
    not known is counted from 0; an error such as perplexity, which has none, is left out."""
    found = []
    for curve in scores(features, split, 1):
        scale = scale_of(curve.name, curve.values, features.run.setup.classes)
        assert scale is not None
        known = skill(late_median(curve), scale)
        if known is not None or curve.sign < 0:
            found.append(late_median(curve) / scale.perfect if known is None else known)
    return found


ROUNDS = 10  # evaluations; whoever evaluates has trained for a while in between


def is_late(features: Features, epochs: float, steps: float) -> bool:
    """Whether the run is past its first `epochs`; where these are not logged, past `steps` or evaluated ten
    times."""
    run, epoch = features.run, features.curve("epoch")
    last = run.last_step or 0.0
    if epoch is not None and epoch.n:
        return bool(epoch.values.max() >= epochs)
    if run.axis in ("epoch", "round"):
        return last >= epochs
    evaluated = max((len(s) for n, s in run.series.items() if n.startswith("val/")), default=0)
    return last >= steps or evaluated >= ROUNDS
