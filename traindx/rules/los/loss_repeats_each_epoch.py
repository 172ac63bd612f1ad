"""LOS014 loss-repeats-each-epoch."""

from traindx.features.curves.oscillation import epoch_profile, is_even
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="LOS014",
    needs=("train/loss", "epoch|setup:steps_per_epoch"),
    min_points=24,
    severity="medium",
    message="train/loss repeats a pattern in every epoch ({shape}), which explains {share:.0%} of "
    "its variance",
)
def loss_repeats_each_epoch(
    run: Run,
    features: Features,
    *,
    explained: float = threshold(
        0.35, "of the variance around the trend", "convention", "shuffled data explain none of it"
    ),
    epochs: float = threshold(3, "epochs", "theory", "a repetition must be seen three times"),
    per_epoch: float = threshold(6, "points an epoch", "theory", "fewer cannot show a shape"),
    visible: float = threshold(0.05, "of the curve's range", "convention", "visible in a plot"),
) -> Iterator[Evidence]:
    """The training loss shows the same pattern in every epoch.

    ## What it sees
    The loss without its trend, averaged by the place in the epoch over at least 3 epochs of 6 points. This
    profile must explain 35 % of the variance around the trend and be 5 % of the range high. Batches that
    were mixed once and then come in the same order have no pattern: neighbors differ as much as any two
    places.

    ## Why it matters
    Shuffled data have no place in an epoch. A repeated pattern means that batches come in an order: by
    class, by length or by source.

    ## When it is wrong
    A running mean since the start of the epoch falls in each epoch by construction (not judged if the log
    shows that it is one). Networks that memorize show a step down at each new epoch, which counts as trend.

    ## What to try
    Shuffle in every epoch. Look at the labels of a few successive batches.

    ## Sources
    PyTorch, `DataLoader(shuffle=True)`: https://docs.pytorch.org/docs/stable/data.html. Bengio (2012),
    Practical recommendations for gradient-based training of deep architectures (shuffle the examples),
    arXiv:1206.5533.
    """
    curve = features.needed_curve("train/loss")
    period = points_per_epoch(features, curve)
    if period is None or curve.n < epochs * period or period < per_epoch:
        raise api.CannotJudge("needs three epochs of six points each, with the epoch known")
    if any(e.code == "running-mean" for e in run.events):
        raise api.CannotJudge("the log prints running means, which restart in each epoch")
    skip = int(period)  # the first epoch is learning, not order
    y = curve.values[skip:] if curve.n >= (epochs + 1) * period else curve.values
    y = api.running_median(y, 3)  # a smaller last batch has another level, which is not a pattern
    skewed = is_skewed(y)
    profile, share = epoch_profile(np.log(np.maximum(y, y[y > 0].min())) if skewed else y, period)
    swing = float(np.ptp(profile))
    if share < explained or (not skewed and (swing < visible * curve.span or swing < curve.noise)):
        return
    if is_mixed(curve.values[skip:], round(period), usual_batch(run)):
        return
    # Memorizing in a fixed order rises within each epoch. It does not fall steadily and jump back.
    rising = float(np.polyfit(np.arange(len(profile)), profile, 1)[0]) > 0
    yield Evidence(
        onset=curve.step_at(skip),
        last=float(curve.steps[-1]),
        strength=min(1.0, 0.5 + share / 2),
        aspects=("rising-within" if rising else "falling-within",),
        values={"share": share, "shape": "rising within it" if rising else "falling within it"},
        points=(
            EvidencePoint("train/loss", float(curve.steps[-1]), swing, curve.noise, "height of the pattern"),
        ),
    )


def usual_batch(run: Run, *, unknown: float = 32.0) -> float:
    """Samples in a batch, or a common size if that is not known."""
    return run.setup.number("batch_size") or unknown


def is_mixed(
    values: api.Floats,
    period: int,
    batch: float,
    *,
    similar: float = threshold(2.0, "standard errors", "theory", "97.7 % of places without an order"),
    varied: float = threshold(
        3.0,
        "x the mean loss, over the root of the batch size",
        "convention",
        "losses of samples spread by one to three times their mean",
    ),
) -> bool:
    """Whether the losses at the places of an epoch, over all epochs, are in no order: neighbors differ as
    much as any two (von Neumann's ratio, 1 within `similar` standard errors), and by no more than batches of
    so many samples."""
    epochs = len(values) // period
    if epochs < 1 or period < 3:
        return False
    table = values[: epochs * period].reshape(epochs, period)
    table = table[np.isfinite(table).all(1)]
    if not len(table):
        return False
    level = float(np.abs(table).mean())
    profile = (table - table.mean(1, keepdims=True)).mean(0)
    spread = float(profile.var())
    if not 0 < spread <= (varied * level) ** 2 / batch:
        return False
    ratio = float(np.mean(np.diff(profile) ** 2)) / (2 * spread)
    return bool(ratio > 1 - similar * ((period - 2) / (period**2 - 1)) ** 0.5)


def points_per_epoch(features: Features, curve: api.Curve) -> float | None:
    """Logged points in an epoch, from the epoch signal or a known number of steps; None if unknown or
    if the points are not evenly spaced."""
    spacing = np.diff(curve.steps)
    usual = float(api.median(spacing)) if len(spacing) else 0.0
    if usual <= 0 or not is_even(spacing):
        return None
    stated = features.run.setup.facts.get("steps_per_epoch")
    if isinstance(stated, (int, float)) and stated > 0:
        return float(stated) / usual
    epoch = features.curve("epoch")
    if epoch is None or epoch.n < 3 or float(np.ptp(epoch.values)) <= 0:
        return None
    return steps_per_epoch(epoch) / usual


def steps_per_epoch(epoch: api.Curve) -> float:
    """Steps per epoch: where a whole counter changes, or else by its slope."""
    moves = epoch.steps[1:][np.diff(epoch.values) > 0]
    if np.array_equal(epoch.values, np.floor(epoch.values)) and len(moves) > 2:
        return float(api.median(np.diff(moves)))
    return float(epoch.steps[-1] - epoch.steps[0]) / float(np.ptp(epoch.values))


def is_skewed(y: api.Floats) -> bool:
    """Whether a loss spans orders of magnitude, so that its pattern consists of factors: it is not below
    zero, and its mean is far above its median."""
    return bool(y.min() >= 0 and y.max() > 0 and float(np.mean(y)) > 2 * float(api.median(y)))
