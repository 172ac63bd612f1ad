"""LOS099: the loss repeats one value."""

from traindx.rules.api import Evidence, Features, Iterator, Run, rule, threshold


@rule(
    code="LOS099",
    needs=("train/loss",),
    min_points=20,
    severity="low",
    message="train/loss is exactly {value:.4g} in {share:.0%} of the run",
)
def loss_repeats_one_value(
    run: Run,
    features: Features,
    *,
    most: float = threshold(0.8, "of the points", "convention", "equal losses are not computed"),
) -> Iterator[Evidence]:
    """Most values of the training loss are the same number.

    ## What it sees
    The share of the points at which the loss is equal to its last value.

    ## Why it matters
    A loss that is computed from batches differs from step to step. Equal values are written by something else.

    ## When it is wrong
    Losses that are rounded to few digits when they are logged.

    ## What to try
    Print the loss in the loop and compare it with the log.

    ## Sources
    A template of the tests.
    """
    curve = features.needed_curve("train/loss")
    share = float((curve.values == curve.values[-1]).mean())
    if share >= most:
        yield Evidence(
            onset=curve.step_at(0),
            last=curve.step_at(curve.n - 1),
            strength=0.5,
            values={"value": float(curve.values[-1]), "share": share},
        )
