"""LOS010: a long flat stretch, and then a steep fall."""

from traindx.features.curves.plateaus import late_drop
from traindx.features.statistics.noise import median_error
from traindx.features.statistics.smoothing import TREND_PARTS
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, median, rule, threshold

BLOCKS = 60  # how finely the run is cut in the search for the drop


@rule(
    code="LOS010",
    needs=("objective",),
    min_points=16,
    severity="info",
    message="{name} was flat for {wait:.0%} of the run and then improved steeply at step {onset:g} (an S-curve)",
)
def loss_drops_late(
    run: Run,
    features: Features,
    *,
    waited: float = threshold(0.15, "of the run, flat before", "convention", "shorter waits are warm-up"),
    most: float = threshold(
        0.4, "of all progress, in the drop", "convention", "the drop must be where the learning happened"
    ),
    kept: float = threshold(0.6, "of the drop", "convention", "a dip that is undone is no learning"),
    surely: float = threshold(6.0, "x standard error", "theory", "choice among 60 blocks"),
) -> Iterator[Evidence]:
    """The loss hardly moves for a long time and then falls within a tenth of the run.

    ## What it sees
    The steepest fall over a tenth of the run holds most of all progress and comes after a stretch, at least 15 % of
    the run long, in which the level stayed within a fifth of that fall.

    ## Why it matters
    It is good news: the run had not been stuck. It warns against stopping others like it too early.

    ## When it is wrong
    A learning-rate drop or a change of data causes a step as well.

    ## What to try
    Nothing; in sister runs wait at least twice the flat stretch before giving up.

    ## Sources
    Requirements (flat start then sudden drop: normal for some architectures).
    """
    curve = features.needed_curve("objective")
    drop = late_drop(curve.oriented, blocks=BLOCKS)
    if drop is None:
        return
    y = curve.oriented
    first_level = float(median(y[: max(3, curve.n // TREND_PARTS)]))
    error = median_error(curve.noise, curve.n / BLOCKS / 2)
    if drop.wait < waited or drop.size < most * (first_level - curve.best) or drop.size < surely * error:
        return
    if drop.early > drop.size or curve.end > curve.best + kept * drop.size:
        return
    yield Evidence(
        onset=curve.step_at(drop.first),
        last=curve.step_at(drop.last),
        strength=min(1.0, 0.5 + drop.wait),
        values={"name": curve.name, "wait": drop.wait, "onset": curve.step_at(drop.first)},
        points=(EvidencePoint(curve.name, curve.step_at(drop.first), drop.size, None, "size of the fall"),),
    )
