"""GEN003: a hump in the held-out loss that is taken back."""

from traindx.features.curves.generalization import Hump, hump
from traindx.features.curves.signal_pairs import Pair, pairs
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    rule,
    threshold,
)

MIN_POINTS = 8


@rule(
    code="GEN003",
    needs=("val/*", "train/*"),
    min_points=MIN_POINTS,
    severity="info",
    message="{signal} goes from {low:.4g} at step {before:.6g} to {high:.4g} at step {top:.6g} and back to {end:.4g}",
)
def validation_rises_then_falls(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(5.0, "x the held-out curve's own noise", "theory", "5 sigma, best of many"),
    height: float = threshold(0.1, "of the improvement", "convention", "below: not seen by eye"),
    dip: float = threshold(0.25, "of the hump", "convention", "without a first minimum it is no descent"),
    back: float = threshold(0.25, "of the hump", "convention", "ends near or below the old minimum"),
    width: float = threshold(0.05, "of the points", "convention", "narrower: a spike"),
    shared: float = threshold(0.25, "of the hump", "convention", "training has the hump too: instability"),
) -> Iterator[Evidence]:
    """The held-out loss falls, rises for a while, and falls again to where it was or lower.

    ## What it sees
    A first minimum, a broad hump beyond the curve's own noise that the training curve does not share, and an
    end near or below the old minimum.

    ## Why it matters
    Stopping at the first minimum would have been too early; it is the shape of epoch-wise double descent,
    often with noisy labels and a model just large enough to fit them.

    ## When it is wrong
    A learning-rate drop ends a noisy phase in the same shape; a held-out set that changed.

    ## What to try
    Nothing is needed while it falls; keep several checkpoints; look for wrong labels.

    ## Sources
    Nakkiran et al., "Deep Double Descent", arXiv:1912.02292; Belkin et al., arXiv:1812.11118.
    """
    candidates = pairs(features, min_points=MIN_POINTS)
    if features.is_reinforcement or not candidates:
        raise CannotJudge(
            f"needs a metric on training and held-out data, with at least {MIN_POINTS} points of each"
        )
    for pair in candidates:
        seen = hump(pair.val.oriented)
        if seen is None or not clear(seen, noise, height, width) or not descends(seen, dip, back):
            continue
        if not training_shares(pair, seen, shared):
            yield tell(pair, seen)
            return


def clear(seen: Hump, noise: float, height: float, width: float) -> bool:
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
    train = pair.train_at_val()
    unit = seen.high - seen.low if pair.same else pair.train.span
    return bool(median(train[seen.top : seen.top + 3]) - train[seen.before] > shared * unit)


def tell(pair: Pair, seen: Hump) -> Evidence:
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
