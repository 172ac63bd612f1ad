"""GEN003 validation-rises-then-falls."""

from traindx.features.curves.generalization import Hump, hump
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Pair, Run, api, rule, threshold

MIN_POINTS = 8


@rule(
    code="GEN003",
    needs=("val/*", "train/*"),
    min_points=MIN_POINTS,
    severity="info",
    message="{signal} went from {low:.4g} at step {before:g} to {high:.4g} at step {top:g} and "
    "back to {end:.4g} (trend)",
)
def validation_rises_then_falls(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(5.0, "x the noise of the validation curve", "theory", "5 sigma, best of many"),
    height: float = threshold(0.1, "of the improvement", "convention", "visible in a plot"),
    dip: float = threshold(0.25, "of the hump", "convention", "a first minimum"),
    back: float = threshold(0.25, "of the hump", "convention", "ends near or below the old minimum"),
    width: float = threshold(0.05, "of the points", "convention", "a narrower one is a spike"),
    shared: float = threshold(
        0.25, "of the hump", "convention", "if training has it too, it is instability"
    ),
) -> Iterator[Evidence]:
    """The validation loss falls, rises for a while, and falls again.

    ## What it sees
    A first minimum, a hump of 5 times the noise of the curve and 5 % of the points, and an end near or below
    the old minimum. The training curve does not have the hump.

    ## Why it matters
    Early stopping at the first minimum would have been too early. This is the shape of epoch-wise double
    descent, often with noisy labels and a model that is just large enough to fit them.

    ## When it is wrong
    A drop of the learning rate ends a noisy phase with the same shape. The validation set may have changed.

    ## What to try
    Nothing while the loss falls. Keep several checkpoints, and look for wrong labels.

    ## Sources
    Nakkiran et al. (2020), Deep double descent, arXiv:1912.02292. Belkin et al. (2019), Reconciling modern
    machine learning practice and the bias-variance trade-off, arXiv:1812.11118.
    """
    candidates = api.pairs(features, min_points=MIN_POINTS)
    if features.is_reinforcement or not candidates:
        raise api.CannotJudge(
            f"needs a metric on training and validation data, with at least {MIN_POINTS} points of each"
        )
    for pair in candidates:
        seen = hump(pair.val.as_loss)
        if seen is None or not is_clear(seen, noise, height, width) or not descends(seen, dip, back):
            continue
        if not training_shares(pair, seen, shared):
            yield evidence(pair, seen)
            return


def is_clear(seen: Hump, noise: float, height: float, width: float) -> bool:
    """Whether the hump is beyond noise, high and broad."""
    size = seen.high - seen.low
    return (
        size > noise * seen.noise
        and size >= height * (seen.first - min(seen.low, seen.end))
        and seen.width >= width
    )


def descends(seen: Hump, dip: float, back: float) -> bool:
    """Whether there is a descent on both sides of the hump."""
    size = seen.high - seen.low
    return seen.first - seen.low >= dip * size and seen.end <= seen.low + back * size


def training_shares(pair: Pair, seen: Hump, shared: float) -> bool:
    """Whether the training curve has the hump too."""
    train = pair.train_at_val()
    unit = seen.high - seen.low if pair.same else pair.train.span
    return bool(api.median(train[seen.top : seen.top + 3]) - train[seen.before] > shared * unit)


def evidence(pair: Pair, seen: Hump) -> Evidence:
    curve, sign = pair.val, pair.val.sign
    before, top, last = curve.step_at(seen.before), curve.step_at(seen.top), curve.step_at(curve.n - 1)
    low, high, end = seen.low * sign, seen.high * sign, seen.end * sign
    return Evidence(
        onset=before,
        last=last,
        where=curve.name,
        aspects=("new-best",) if seen.end < seen.low else (),
        values={"signal": curve.name, "low": low, "before": before, "high": high, "top": top, "end": end},
        points=(
            EvidencePoint(curve.name, before, low),
            EvidencePoint(curve.name, top, high, low),
            EvidencePoint(curve.name, last, end, low),
        ),
    )
