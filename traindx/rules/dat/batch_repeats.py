"""DAT013 batch-repeats."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT013",
    needs=(
        "setup:batches_repeat_share",
        "setup:dataset_size",
    ),
    min_points=1,
    severity="high",
    message="{share:.0%} of the batches repeat one of the last eight; the different ones hold {part:.0%} of the data",
)
def batch_repeats(
    run: Run,
    features: Features,
    *,
    share: float = threshold(0.5, "of the batches", "convention", "more often than not"),
    part: float = threshold(0.5, "of the data", "convention", "the batches seen hold less than half of it"),
    least: float = threshold(8, "batches", "convention", "as many as are remembered"),
    whole: float = threshold(20, "batches", "convention", "so many show it where the data may be over"),
) -> Iterator[Evidence]:
    """The same batch is trained on again and again.

    ## What it sees
    Batches whose hash equals one of the eight before, while the different batches hold only part of the data
    set.

    ## Why it matters
    The net learns one batch by heart and nothing else.

    ## When it is wrong
    Full-batch training repeats its batch by design (it holds all the data, so it is not counted);
    overfitting one batch is a useful test when it is meant.

    ## What to try
    Iterate the loader; no next(iter(loader)) inside of the loop.

    ## Sources
    Karpathy (2019), A recipe for training neural networks; fault catalogue row 82.
    """
    setup = run.setup
    seen, distinct = setup.number("batches_seen") or 0.0, setup.number("batches_distinct")
    repeated, size, batch = (
        setup.number("batches_repeat_share"),
        setup.number("dataset_size"),
        setup.number("batch_size"),
    )
    if repeated is None or distinct is None or not size or not batch:
        raise CannotJudge("needs the size of the data set and of a batch")
    if seen < least or (seen < whole and seen * batch > size):
        raise CannotJudge("too few batches were looked at")
    covered = distinct * batch / size
    if repeated < share or covered >= part:
        return
    yield Evidence(
        aspects=("single",) if distinct < 2 else (),
        values={"share": repeated, "part": covered},
        points=(EvidencePoint("batches_repeat_share", None, repeated, 0.0, "0..1"),),
    )
