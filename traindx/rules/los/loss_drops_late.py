"""LOS010 loss-drops-late."""

from traindx.rules.api import TREND_PARTS, Evidence, Features, Iterator, Run, api, rule, threshold

BLOCKS = 60  # how finely the run is cut in the search for the drop


@rule(
    code="LOS010",
    needs=("objective",),
    min_points=16,
    severity="info",
    message="{name} was flat for {wait:.0%} of the run and then improved steeply at step {onset:g} "
    "(an S-curve)",
)
def loss_drops_late(
    run: Run,
    features: Features,
    *,
    waited: float = threshold(0.15, "of the run, flat before", "convention", "shorter waits are warm-up"),
    most: float = threshold(
        0.4, "of all progress, in the drop", "convention", "most of the learning is in the drop"
    ),
    kept: float = threshold(0.6, "of the drop", "convention", "a dip that is undone is not learning"),
    surely: float = threshold(6.0, "x standard error", "theory", "the best of 60 blocks"),
) -> Iterator[Evidence]:
    """The loss is flat for a long time and then falls steeply.

    ## What it sees
    The steepest fall within a tenth of the run holds at least 40 % of all progress. It comes after a stretch
    of at least 15 % of the run in which the level stayed within a fifth of that fall, and it is not undone
    later.

    ## Why it matters
    It is good news: the run was not stuck. It warns against stopping similar runs too early.

    ## When it is wrong
    A drop of the learning rate or a change of the data causes a step as well.

    ## What to try
    Nothing. In similar runs wait at least twice as long as the flat stretch before you stop.

    ## Sources
    Power et al. (2022), Grokking: generalization beyond overfitting on small algorithmic datasets,
    arXiv:2201.02177. Barak et al. (2022), Hidden progress in deep learning: SGD learns parities near the
    computational limit, arXiv:2207.08799.
    """
    curve = features.needed_curve("objective")
    drop = api.late_drop(curve.as_loss, blocks=BLOCKS)
    if drop is None:
        return
    y = curve.as_loss
    first_level = float(api.median(y[: max(3, curve.n // TREND_PARTS)]))
    error = api.median_error(curve.noise, curve.n / BLOCKS / 2)
    if drop.wait < waited or drop.size < most * (first_level - curve.best) or drop.size < surely * error:
        return
    if drop.early > drop.size or curve.end > curve.best + kept * drop.size:
        return
    yield Evidence(
        onset=curve.step_at(drop.first),
        last=curve.step_at(drop.last),
        strength=min(1.0, 0.5 + drop.wait),
        values={"name": curve.name, "wait": drop.wait, "onset": curve.step_at(drop.first)},
        points=(
            api.EvidencePoint(curve.name, curve.step_at(drop.first), drop.size, None, "size of the fall"),
        ),
    )
