"""LOS013: the loss is not where it was when a run is resumed."""

from traindx.features.statistics.noise import median_error
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


@rule(
    code="LOS013",
    needs=("train/loss", "event:resume"),
    min_points=5,
    severity="medium",
    message="train/loss jumps {direction} at the resume of step {onset:g}: {before:.4g} before, {after:.4g} after",
)
def loss_jumps_on_resume(
    run: Run,
    features: Features,
    *,
    surely: float = threshold(
        6.0, "x standard error", "theory", "the difference of two medians of a few points"
    ),
    visible: float = threshold(
        0.1, "of the curve's range", "convention", "smaller differences heal at once"
    ),
    points: float = threshold(
        5, "points on each side", "convention", "enough for a median, short against a trend"
    ),
    times: float = threshold(2.0, "x every point before", "convention", "few points: doubled or worse"),
) -> Iterator[Evidence]:
    """The level right after a resume differs from the level right before it.

    ## What it sees
    Medians of a few points on either side of each resume, against the noise and the range of the curve; of two points
    on a side, all behind it at twice all before it.

    ## Why it matters
    A checkpoint that restores everything gives a curve without a seam. A bump upward means that something was left
    out: the optimizer's moments, the schedule's place, the order of the data, the scale of the loss.

    ## When it is wrong
    A resume with another batch size, accumulation or data changes the level on purpose.

    ## What to try
    Save and load optimizer, scheduler, scaler and random states; compare the learning rate on both sides.

    ## Sources
    peers.md: complaints 23, 24; fault catalogue 99.
    """
    curve = features.needed_curve("train/loss")
    seams = [e for e in run.events if e.kind == "resume" and e.step is not None and e.code != "late-start"]
    judged = 0
    for event in seams:
        assert event.step is not None
        cut = int(np.searchsorted(curve.steps, event.step))
        k = int(points)
        before, after = curve.values[max(0, cut - k) : cut], curve.values[cut : cut + k]
        if len(before) < 3 or len(after) < 3:
            if (
                len(before) > 1
                and len(after) > 1
                and before.min() > 0
                and after.min() >= times * before.max()
            ):
                yield told(event.step, float(median(before)), float(after[0]))
            continue
        judged += 1
        a, b = float(median(before)), float(median(after))
        error = median_error(curve.noise, 1 / (1 / len(before) + 1 / len(after)))
        if abs(b - a) < max(surely * error, visible * curve.span) or b == a:
            continue
        yield told(event.step, a, b)
    if not judged and not (seams and curve.n < 2 * points):
        raise CannotJudge("too few points around the resume")


def told(step: float, before: float, after: float) -> Evidence:
    """The evidence of a jump between two levels."""
    way = "up" if after > before else "down"
    return Evidence(
        onset=step,
        severity="medium" if way == "up" else "low",
        aspects=(way,),
        values={"direction": way, "onset": step, "before": before, "after": after},
        points=(EvidencePoint("train/loss", step, after, before),),
    )
