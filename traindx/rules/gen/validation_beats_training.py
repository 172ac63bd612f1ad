"""GEN005 validation-beats-training."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold

MIN_POINTS = 6


@rule(
    code="GEN005",
    needs=("val/*", "train/*"),
    min_points=MIN_POINTS,
    severity="info",
    message="{signal} is better than {other} over the last half: {val:.4g} compared with "
    "{train:.4g} (medians)",
)
def validation_beats_training(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(
        2.0, "x the spread of the difference", "theory", "almost every point is better"
    ),
    size: float = threshold(0.05, "of training's improvement", "convention", "visible in a plot"),
    large: float = threshold(0.25, "of training's improvement", "convention", "more than dropout causes"),
    much: float = threshold(0.4, "of the units", "convention", "training then looks worse than it is"),
    weak: float = threshold(0.1, "strength", "convention", "dropout explains it"),
) -> Iterator[Evidence]:
    """The validation metric is clearly better than the training metric.

    ## What it sees
    The same metric on both splits over the last half of the run. Validation must be better at almost every
    point (by 2 times the scatter of the difference), and by 5 % of what training improved. From 25 % on, the
    finding has the aspect `large`. The first half is left out, because a training mean over an epoch lags
    behind.

    ## Why it matters
    It is normal with dropout, augmentation, label smoothing or a penalty in the training loss. It is also
    what a validation set shows that is easier than the training set, or overlaps with it.

    ## When it is wrong
    The two losses may not be the same quantity: a penalty in one of them, or other weights. Where a
    dropout of 0.4 or more is known, the finding counts little for any cause.

    ## What to try
    Evaluate a training batch in evaluation mode. If the difference disappears, it is harmless.

    ## Sources
    Srivastava et al. (2014), Dropout, https://jmlr.org/papers/v15/srivastava14a.html. Szegedy et al. (2016),
    Rethinking the Inception architecture for computer vision (label smoothing), arXiv:1512.00567.
    """
    candidates = [p for p in api.pairs(features, min_points=MIN_POINTS) if p.same]
    if features.is_reinforcement or not candidates:
        raise api.CannotJudge(
            f"needs the same metric on training and validation data, {MIN_POINTS} points of each"
        )
    for pair in candidates[:1]:
        half = pair.val.n // 2
        gap = (pair.train_at_val() - pair.val.as_loss)[half:]
        level = float(median(gap))
        share = level / max(float(pair.train.span), float(np.finfo(np.float64).tiny))
        if level > noise * api.robust_sigma(gap) and share >= size and pair.train.span > 0:
            visible = level >= size * abs(float(median(pair.val.as_loss[half:])))
            dropped = (run.setup.number("dropout") or 0.0) >= much
            yield evidence(pair, half, level, share >= large and visible, weak if dropped else 1.0)


def evidence(pair: api.Pair, half: int, gap: float, large: bool, strength: float) -> Evidence:
    onset, last = pair.val.step_at(half), pair.val.step_at(pair.val.n - 1)
    val = float(median(pair.val.values[half:]))
    train = val + gap * pair.val.sign
    return Evidence(
        onset=onset,
        last=last,
        where=pair.val.name,
        aspects=("large",) if large else (),
        strength=strength,
        severity="info",
        values={"signal": pair.val.name, "other": pair.train.name, "val": val, "train": train},
        points=(pair.val.point(-1, val * pair.val.sign, train * pair.val.sign),),
    )
