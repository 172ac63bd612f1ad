"""GEN005: the held-out metric is clearly better than the training metric."""

from traindx.features.curves.signal_pairs import Pair, pairs
from traindx.features.statistics.noise import robust_sigma
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
)

MIN_POINTS = 6


@rule(
    code="GEN005",
    needs=("val/*", "train/*"),
    min_points=MIN_POINTS,
    severity="info",
    message="{signal} stays better than {beside}: {val:.4g} against {train:.4g} over the last half",
)
def validation_beats_training(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(2.0, "x the spread of the difference", "theory", "nearly every point better"),
    size: float = threshold(0.05, "of training's improvement", "convention", "a difference in a plot"),
    large: float = threshold(0.25, "of training's improvement", "convention", "more than usual dropout"),
) -> Iterator[Evidence]:
    """Over the last half of the run the held-out metric is clearly better than the training metric.

    ## What it sees
    The same metric on both splits, the held-out one better at nearly every point by more than a small share
    of what training has improved. The first half is left out: there a training mean over an epoch lags
    behind.

    ## Why it matters
    It is normal under dropout, augmentation, label smoothing or losses with a penalty, and it is also how an
    easier or overlapping held-out set looks.

    ## When it is wrong
    The two losses may not be the same quantity (a penalty in one of them, another weighting).

    ## What to try
    Evaluate a training batch in evaluation mode: if the difference goes away, it is benign.

    ## Sources
    Srivastava et al., "Dropout", JMLR 15 (2014); Szegedy et al., arXiv:1512.00567 (label smoothing).
    """
    candidates = [p for p in pairs(features, min_points=MIN_POINTS) if p.same]
    if features.is_reinforcement or not candidates:
        raise CannotJudge(
            f"needs the same metric on training and held-out data, {MIN_POINTS} points of each"
        )
    for pair in candidates[:1]:
        half = pair.val.n // 2
        gap = (pair.train_at_val() - pair.val.oriented)[half:]
        level = float(median(gap))
        share = level / max(float(pair.train.span), float(np.finfo(np.float64).tiny))
        if level > noise * robust_sigma(gap) and share >= size and pair.train.span > 0:
            visible = level >= size * abs(float(median(pair.val.oriented[half:])))
            yield tell(pair, half, level, share >= large and visible)


def tell(pair: Pair, half: int, gap: float, large: bool) -> Evidence:
    onset, last = pair.val.step_at(half), pair.val.step_at(pair.val.n - 1)
    val = float(median(pair.val.values[half:]))
    train = val + gap * pair.val.sign
    return Evidence(
        onset=onset,
        last=last,
        where=pair.val.name,
        aspects=("large",) if large else (),
        severity="info",
        values={"signal": pair.val.name, "beside": pair.train.name, "val": val, "train": train},
        points=(EvidencePoint(pair.val.name, last, val, train),),
    )
