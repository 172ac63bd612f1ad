"""GEN004 validation-drops-late."""

import msgspec

from traindx.features.curves.generalization import BLOCKS, index_of_return, index_reaching, valley_noise
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Pair, Run, api, np, rule, threshold

MIN_POINTS = 10


class Drop(msgspec.Struct, frozen=True):
    """Steps at which training was done and at which the validation curve was halfway down; its levels before
    the drop and at the end, and the share of its whole range that is between them."""

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
    message="{signal} improved from {high:.4g} to {end:.4g} around step {halfway:g} (trend), long "
    "after {other} converged at step {done:g}",
)
def validation_drops_late(
    run: Run,
    features: Features,
    *,
    progress: float = threshold(0.9, "of training's improvement", "measured", "training is done"),
    share: float = threshold(0.5, "of the validation range", "convention", "most of the possible gain"),
    delay: float = threshold(3.0, "x the time training took", "paper", "arXiv:2201.02177: 10x and more"),
    wait: float = threshold(0.1, "of the run", "convention", "visible in a plot"),
    noise: float = threshold(5.0, "x the noise of the validation curve", "theory", "5 sigma, best of many"),
) -> Iterator[Evidence]:
    """Validation improves strongly long after training has converged.

    ## What it sees
    The training curve has made 90 % of its progress. Validation stays flat or bad for 3 times as long (and
    10 % of the run). Then it makes at least half of its progress, by 5 times its noise.

    ## Why it matters
    During the flat stretch the run appeared hopelessly overfitted, but it was not. This is called grokking.

    ## When it is wrong
    Validation that was wrong at first looks similar: weights that are averaged late, normalization
    statistics that converge slowly.

    ## What to try
    Wait. Weight decay and more data shorten the delay.

    ## Sources
    Power et al. (2022), Grokking: generalization beyond overfitting on small algorithmic datasets,
    arXiv:2201.02177. Liu et al. (2023), Omnigrok: grokking beyond algorithmic data, arXiv:2210.01117.
    """
    candidates = api.pairs(features, min_points=MIN_POINTS)
    if features.is_reinforcement or not candidates:
        raise CannotJudge(
            f"needs a metric on training and validation data, with at least {MIN_POINTS} points of each"
        )
    first = float(min(min(p.train.steps[0], p.val.steps[0]) for p in candidates))
    for pair in candidates:
        drop = largest_fall(pair, progress)
        length = float(pair.val.steps[-1]) - first
        late = (
            drop.halfway - first >= delay * (drop.done - first) and drop.halfway - drop.done >= wait * length
        )
        beyond = drop.share >= share and drop.high - drop.end > noise * drop.noise
        if late and beyond and drop.between >= 3 and training_lasts(pair.train, progress):
            yield evidence(pair, drop)
            return


def training_lasts(train: api.Curve, progress: float) -> bool:
    """Whether training kept what it had learned all the time. Otherwise both only recovered from a
    setback."""
    since = train.trend[index_reaching(train.trend, progress) :]
    kept = float(np.mean(since <= train.best + train.span / 2)) >= progress
    return kept and train.end <= train.best + 2 * (1 - progress) * train.span


def largest_fall(pair: Pair, progress: float) -> Drop:
    """The largest fall of the validation curve after training had converged."""
    curve = pair.val
    done = pair.train.step_at(index_reaching(pair.train.trend, progress))
    y = curve.trend
    start = min(int(np.searchsorted(curve.steps, done)), curve.n - 1)
    top = start + int(np.argmax(y[start:]))
    end = float(y[top:].min())
    halfway = min(index_of_return(y, (float(y[top]) + end) / 2, top), curve.n - 1)
    # The trend smooths away a fall at the first point.
    whole = max(float(np.ptp(y)), float(curve.as_loss[0]) - end)
    coarse = api.block_medians(curve.as_loss[top:], BLOCKS)
    return Drop(
        done=done,
        halfway=curve.step_at(halfway),
        high=float(y[top]),
        end=end,
        share=(float(y[top]) - end) / max(whole, np.finfo(np.float64).tiny),
        noise=valley_noise(coarse, len(coarse) - 1),
        between=halfway - start,
    )


def evidence(pair: Pair, drop: Drop) -> Evidence:
    curve = pair.val
    high, end, last = drop.high * curve.sign, drop.end * curve.sign, curve.step_at(curve.n - 1)
    return Evidence(
        onset=drop.halfway,
        last=last,
        where=curve.name,
        values={
            "signal": curve.name,
            "other": pair.train.name,
            "high": high,
            "end": end,
            "halfway": drop.halfway,
            "done": drop.done,
        },
        points=(
            api.EvidencePoint(
                pair.train.name, drop.done, float(pair.train.at_steps(np.array([drop.done]))[0])
            ),
            curve.point(int(np.searchsorted(curve.steps, drop.done)), drop.high),
            curve.point(-1, drop.end, drop.high),
        ),
    )
