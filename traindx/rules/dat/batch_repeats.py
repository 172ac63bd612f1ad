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
    message="{share:.0%} of the batches repeat one of the last eight; the different batches cover "
    "{part:.0%} of the data",
)
def batch_repeats(
    run: Run,
    features: Features,
    *,
    share: float = threshold(0.5, "of the batches", "convention", "more often than not"),
    part: float = threshold(
        0.5, "of the data", "convention", "the batches cover less than half of the data"
    ),
    least: float = threshold(8, "batches", "convention", "the number of remembered batches"),
    whole: float = threshold(20, "batches", "convention", "enough even where the data may be used up"),
) -> Iterator[Evidence]:
    """The same batch is trained on again and again.

    ## What it sees
    Batches whose hash equals that of one of the eight batches before, although the different batches
    cover only part of the data set.

    ## Why it matters
    The model memorizes one batch and learns nothing else.

    ## When it is wrong
    Full-batch training repeats its batch by design. It covers all data and is not counted. Overfitting one
    batch on purpose is a useful test.

    ## What to try
    Iterate over the loader. Do not call `next(iter(loader))` inside the loop.

    ## Sources
    Karpathy (2019), A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/
    (overfit one batch).
    """
    setup = run.setup
    seen, distinct = setup.number("batches_seen") or 0.0, setup.number("batches_distinct")
    repeated = setup.number("batches_repeat_share")
    size, batch = setup.number("dataset_size"), setup.number("batch_size")
    if repeated is None or distinct is None or not size or not batch:
        raise CannotJudge("needs the size of the data set and of a batch")
    if seen < least or (seen < whole and seen * batch > size):
        raise CannotJudge("too few batches were read")
    covered = distinct * batch / size
    if repeated < share or covered >= part:
        return
    yield Evidence(
        aspects=("single",) if distinct < 2 else (),
        values={"share": repeated, "part": covered},
        points=(EvidencePoint("batches_repeat_share", None, repeated, 0.0, "0..1"),),
    )
