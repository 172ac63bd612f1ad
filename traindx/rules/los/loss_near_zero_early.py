"""LOS012 loss-near-zero-early."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="LOS012",
    needs=("train/loss",),
    min_points=20,
    severity="low",
    message="train/loss fell to {share:.2%} of its first value by step {onset:g} ({part:.1%} of the "
    "run) and stayed there",
)
def loss_near_zero_early(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.01, "of the starting loss", "convention", "a hundredth is memorized or leaked"
    ),
    early: float = threshold(0.1, "of the run", "convention", "too early to have learned that much"),
    epochs: float = threshold(1.0, "epochs", "theory", "a sample seen once cannot have been memorized"),
) -> Iterator[Evidence]:
    """The training loss is near zero almost at once.

    ## What it sees
    The training loss falls to 1 % of its first level within the first tenth of the run and stays there. The
    aspect `first-epoch` marks that this happened within the first epoch, before a sample could be memorized.

    ## Why it matters
    Real tasks are rarely that easy. The target may leak into the input, one batch may be repeated, or all
    labels may be masked.

    ## When it is wrong
    Easy tasks, tiny data sets, and losses that are small by construction.

    ## What to try
    Shuffle the labels: if the loss still falls, the input contains them. Check the validation loss.

    ## Sources
    Zhang et al. (2017), Understanding deep learning requires rethinking generalization (random labels),
    arXiv:1611.03530. Kaufman et al. (2012), Leakage in data mining, doi:10.1145/2382577.2382579.
    """
    curve = features.needed_curve("train/loss")
    if not curve.start > 0 or float(curve.values.min()) < 0:
        raise api.CannotJudge("needs a positive loss")
    below = np.flatnonzero(curve.trend <= near * curve.start)
    if (
        not len(below)
        or below[0] > early * curve.n
        or api.searches_within_steps(run)
        or float(api.median(curve.values[below[0] :])) > near * curve.start
    ):
        return
    first = int(below[0])
    epoch = features.curve("epoch")
    within = (
        epoch is not None
        and epoch.n > 0
        and float(epoch.at_steps(curve.steps[first : first + 1])[0]) <= epochs
    )
    yield Evidence(
        onset=curve.step_at(first),
        last=float(curve.steps[-1]),
        strength=0.5,
        aspects=("first-epoch",) if within else (),
        values={
            "share": float(curve.trend[first]) / curve.start,
            "onset": curve.step_at(first),
            "part": first / curve.n,
        },
        points=(EvidencePoint("train/loss", curve.step_at(first), float(curve.values[first]), curve.start),),
    )
