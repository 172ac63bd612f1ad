"""LOS013 loss-jumps-on-resume."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="LOS013",
    needs=("train/loss", "event:resume"),
    min_points=5,
    severity="medium",
    message="train/loss jumped {direction} from {before:.4g} to {after:.4g} when the run was "
    "resumed at step {onset:g}",
)
def loss_jumps_on_resume(
    run: Run,
    features: Features,
    *,
    surely: float = threshold(
        6.0, "x standard error", "theory", "the difference of two medians of a few points"
    ),
    visible: float = threshold(
        0.1, "of the curve's range", "convention", "smaller differences disappear at once"
    ),
    points: float = threshold(
        5, "points on each side", "convention", "enough for a median, short against a trend"
    ),
    times: float = threshold(2.0, "x every point before", "convention", "few points: doubled or worse"),
) -> Iterator[Evidence]:
    """The loss is at another level after a resume than before it.

    ## What it sees
    The medians of 5 points on either side of each resume. They must differ by 6 standard errors and by 10 %
    of the range of the curve. If there are two points on a side, all later ones must be at twice all earlier
    ones. Severity is medium for a jump up and low for a jump down.

    ## Why it matters
    A checkpoint that restores everything leaves no jump. A jump up means that something was not restored:
    the optimizer state, the place in the schedule, the order of the data, or the loss scale.

    ## When it is wrong
    A resume with another batch size, accumulation or data set changes the level on purpose.

    ## What to try
    Save and load the state of optimizer, scheduler, gradient scaler and random generators. Compare the
    learning rate on both sides.

    ## Sources
    PyTorch, saving and loading a general checkpoint:
    https://docs.pytorch.org/tutorials/recipes/recipes/saving_and_loading_a_general_checkpoint.html.
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
                yield evidence(event.step, float(median(before)), float(after[0]))
            continue
        judged += 1
        a, b = float(median(before)), float(median(after))
        error = api.median_error(curve.noise, 1 / (1 / len(before) + 1 / len(after)))
        if abs(b - a) < max(surely * error, visible * curve.span) or b == a:
            continue
        yield evidence(event.step, a, b)
    if not judged and not (seams and curve.n < 2 * points):
        raise api.CannotJudge("too few points around the resume")


def evidence(step: float, before: float, after: float) -> Evidence:
    """The evidence of a jump between two levels."""
    way = "up" if after > before else "down"
    return Evidence(
        onset=step,
        severity="medium" if way == "up" else "low",
        aspects=(way,),
        values={"direction": way, "onset": step, "before": before, "after": after},
        points=(api.EvidencePoint("train/loss", step, after, before),),
    )
