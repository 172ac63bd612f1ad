"""GEN004: the held-out curve improves long after the training curve has settled."""

from typing import NamedTuple

from traindx.features.curves.generalization import BLOCKS, reached, reached_again, valley_noise
from traindx.features.curves.signal_pairs import Pair, pairs
from traindx.features.statistics.smoothing import block_medians
from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    np,
    rule,
    threshold,
)

MIN_POINTS = 10


class Drop(NamedTuple):
    """Steps at which training was done and at which the held-out curve was halfway down; its levels before the
    drop and at the end, and the share of its whole range that lies between them."""

    done: float
    halfway: float
    high: float
    end: float
    share: float
    noise: float
    between: int


@rule(
    code="GEN004",
    needs=("val/*", "train/*"),
    min_points=MIN_POINTS,
    severity="info",
    message="{signal} goes from {high:.4g} to {end:.4g} around step {halfway:.6g}; "
    "{beside} had settled by step {done:.6g}",
)
def validation_drops_late(
    run: Run,
    features: Features,
    *,
    progress: float = threshold(0.9, "of training's improvement", "convention", "training is done"),
    share: float = threshold(0.5, "of the held-out range", "convention", "most of what was to gain"),
    delay: float = threshold(3.0, "x the time training took", "paper", "arXiv:2201.02177: 10x and more"),
    wait: float = threshold(0.1, "of the run", "convention", "a delay that can be seen in a plot"),
    noise: float = threshold(5.0, "x the held-out curve's own noise", "theory", "5 sigma, best of many"),
) -> Iterator[Evidence]:
    """The held-out metric stays bad long after training has settled, and then improves strongly.

    ## What it sees
    The training curve has made most of its progress; the held-out one goes on flat or bad for several times
    as long, and then makes most of its own.

    ## Why it matters
    Judged in the flat stretch, the run looked hopelessly overfitted, and was not.

    ## When it is wrong
    Validation that was wrong at first (weights averaged late, statistics that settle) looks alike.

    ## What to try
    Wait; weight decay and more data shorten the delay.

    ## Sources
    Power et al., "Grokking", arXiv:2201.02177; Liu et al., "Omnigrok", arXiv:2210.01117.
    """
    candidates = pairs(features, min_points=MIN_POINTS)
    if features.is_reinforcement or not candidates:
        raise CannotJudge(
            f"needs a metric on training and held-out data, with at least {MIN_POINTS} points of each"
        )
    first = float(min(min(p.train.steps[0], p.val.steps[0]) for p in candidates))
    for pair in candidates:
        drop = look(pair, progress)
        length = float(pair.val.steps[-1]) - first
        late = (
            drop.halfway - first >= delay * (drop.done - first) and drop.halfway - drop.done >= wait * length
        )
        beyond = drop.share >= share and drop.high - drop.end > noise * drop.noise
        if late and beyond and drop.between >= 3 and keeps(pair.train, progress):
            yield tell(pair, drop)
            return


def keeps(train: Curve, progress: float) -> bool:
    """Whether training has kept what it had learned, all along; if not, both only came back to where they began."""
    since = train.trend[reached(train.trend, progress) :]
    kept = float(np.mean(since <= train.best + train.span / 2)) >= progress
    return kept and train.end <= train.best + 2 * (1 - progress) * train.span


def look(pair: Pair, progress: float) -> Drop:
    """The largest fall of the held-out curve after training had settled."""
    curve = pair.val
    done = pair.train.step_at(reached(pair.train.trend, progress))
    y = curve.trend
    start = min(int(np.searchsorted(curve.steps, done)), curve.n - 1)
    top = start + int(np.argmax(y[start:]))
    end = float(y[top:].min())
    halfway = min(reached_again(y, (float(y[top]) + end) / 2, top), curve.n - 1)
    whole = max(
        float(np.ptp(y)), float(curve.oriented[0]) - end
    )  # the trend has smoothed a fall at once away
    coarse = block_medians(curve.oriented[top:], BLOCKS)
    return Drop(
        done=done,
        halfway=curve.step_at(halfway),
        high=float(y[top]),
        end=end,
        share=(float(y[top]) - end) / max(whole, np.finfo(np.float64).tiny),
        noise=valley_noise(coarse, len(coarse) - 1),
        between=halfway - start,
    )


def tell(pair: Pair, drop: Drop) -> Evidence:
    curve = pair.val
    high, end, last = drop.high * curve.sign, drop.end * curve.sign, curve.step_at(curve.n - 1)
    return Evidence(
        onset=drop.halfway,
        last=last,
        where=curve.name,
        values={
            "signal": curve.name,
            "beside": pair.train.name,
            "high": high,
            "end": end,
            "halfway": drop.halfway,
            "done": drop.done,
        },
        points=(
            EvidencePoint(pair.train.name, drop.done, float(pair.train.at_steps(np.array([drop.done]))[0])),
            EvidencePoint(curve.name, drop.done, high),
            EvidencePoint(curve.name, last, end, high),
        ),
    )
