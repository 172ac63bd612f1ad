"""LOP014 loss-has-no-floor."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="LOP014",
    needs=("train/loss",),
    min_points=20,
    severity="high",
    message="the loss falls {how} below zero: from {start:.3g} to {end:.3g}",
)
def loss_has_no_floor(
    run: Run,
    features: Features,
    *,
    far: float = threshold(
        20.0,
        "x the size of the first loss",
        "convention",
        "log-densities end within a few times their first value",
    ),
    faster: float = threshold(
        1.5, "x the fall of the first half", "theory", "a loss near its lower bound falls more slowly"
    ),
    parts: float = threshold(5, "parts of the run", "convention", "each must be below the one before"),
    beyond: float = threshold(
        1e4, "x the size of the first loss, or 1", "theory", "float32 spans 88 nats on either side of 1"
    ),
) -> Iterator[Evidence]:
    """The loss falls without limit.

    ## What it sees
    A training loss ends far below zero. It is lower in every fifth of the run than in the one before, and
    falls faster in the second half than in the first. A loss that ends 10,000 times its first size below zero
    is reported even if it fell unevenly, because no log-density gets there.

    ## Why it matters
    A loss that measures an error has a lower bound. A loss that falls without limit has a wrong sign (a
    missing minus before a log-likelihood, a plus where an error is subtracted), so the model gets worse
    as the loss falls.

    ## When it is wrong
    A density of continuous data may collapse to a point. Some objectives really have no bound.

    ## What to try
    Check the sign of the loss. Print it for a perfect and for a wrong prediction.

    ## Sources
    An error is bounded below, which needs no reference.
    """
    curve = features.needed_curve("train/loss")
    y = curve.values
    levels = np.array([float(median(part)) for part in np.array_split(y, int(parts))])
    size = abs(float(median(y[:3])))
    if size == 0:
        raise api.CannotJudge("the first loss is zero, so there is no scale to compare with")
    first, second = levels[0] - levels[len(levels) // 2], levels[len(levels) // 2] - levels[-1]
    steady = levels[-1] <= -far * size and bool((np.diff(levels) < 0).all()) and second >= faster * first
    # exp(log-variance) and the like fall by orders of magnitude from one batch to the next, so not steadily.
    if not steady and levels[-1] > -beyond * max(size, 1.0):
        return
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        values={
            "start": float(y[0]),
            "end": float(y[-1]),
            "how": "faster and faster" if steady else "without limit",
        },
        points=(api.EvidencePoint("train/loss", float(curve.steps[-1]), float(y[-1]), -far * size, "loss"),),
    )
