"""LOS012: the loss is almost zero almost at once."""

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
    code="LOS012",
    needs=("train/loss",),
    min_points=20,
    severity="low",
    message="train/loss falls to {share:.2%} of its start by step {onset:g}, {part:.1%} into the run, and stays there",
)
def loss_near_zero_early(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.01, "of the starting loss", "convention", "a hundredth is memorized or leaked"
    ),
    early: float = threshold(0.1, "of the run", "convention", "before a net can have learned much"),
    epochs: float = threshold(1.0, "epochs", "theory", "a sample seen once cannot have been memorized"),
) -> Iterator[Evidence]:
    """The training loss is a hundredth of its start within the first tenth of the run.

    ## What it sees
    The level of the loss against its first points, and how early it gets there. Where epochs are known, reaching it
    within the first one is marked.

    ## Why it matters
    Real tasks are rarely that easy: the target may leak into the input, one batch may be fed again and again, or all
    labels may be masked.

    ## When it is wrong
    Easy tasks, tiny data sets, and losses that are small by construction.

    ## What to try
    Shuffle the labels: if the loss still falls, the input holds them. Check held-out data.

    ## Sources
    differential.md (repeated-batch, train-val-leakage, fully-masked-labels).
    """
    curve = features.needed_curve("train/loss")
    if not curve.start > 0 or float(curve.values.min()) < 0:
        raise CannotJudge("needs a positive loss")
    below = np.flatnonzero(curve.trend <= near * curve.start)
    if (
        not len(below)
        or below[0] > early * curve.n
        or float(median(curve.values[below[0] :])) > near * curve.start
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
