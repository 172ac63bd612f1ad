"""DAT009 samples-duplicated."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT009",
    needs=("setup:batch_duplicate_samples_share|setup:samples_duplicate_share",),
    min_points=1,
    severity="low",
    message="{share:.0%} of the training samples are copies of others",
)
def samples_duplicated(
    run: Run,
    features: Features,
    *,
    within: float = threshold(
        0.02, "of a batch", "convention", "copies in one batch mean many in the data set"
    ),
    missing: float = threshold(
        0.1, "of the samples", "convention", "fewer different samples than the data set has"
    ),
    passes: float = threshold(3.0, "epochs", "convention", "all samples were read by then"),
    natural: float = threshold(
        0.05, "by chance", "theory", "samples with few values repeat without being copies"
    ),
) -> Iterator[Evidence]:
    """Training samples occur more than once in the data.

    ## What it sees
    Samples with the same hash within a batch, or fewer different samples than the data set has, after three
    epochs. In a data file: samples that are equal in every feature. Severity is info if the features have so
    few values that samples repeat by chance.

    ## Why it matters
    Copies count double, and copies in both training and validation make the validation score too good.

    ## When it is wrong
    Sampling with replacement repeats on purpose and is not judged. Blank or very sparse samples can
    share a hash.

    ## What to try
    Remove duplicates before splitting, and split by group.

    ## Sources
    Barz, Denzler (2020), Do we train on test data?, https://arxiv.org/abs/1902.00423.
    """
    setup = run.setup
    if "weighted" in setup.word("sampler") or setup.flag("replacement"):
        raise CannotJudge("samples are drawn with replacement")
    share = setup.number("batch_duplicate_samples_share") or 0.0
    size, different = setup.number("dataset_size"), setup.number("train_samples_hashed")
    read = (setup.number("batches_seen") or 0.0) * (setup.number("batch_size") or 0.0)
    if size and different and read >= passes * size and different < (1 - missing) * size:
        share = max(share, 1 - different / size)
    share = max(share, setup.number("samples_duplicate_share") or 0.0)
    if share < within or (setup.number("batches_distinct") or 2) < 2:
        return
    chance = (setup.number("samples_duplicate_chance") or 0.0) >= natural
    yield Evidence(
        severity="info" if chance else "low",
        strength=0.5,
        aspects=("few-values",) if chance else (),
        values={"share": share},
        points=(EvidencePoint("batch_duplicate_samples_share", None, share, within, "0..1"),),
    )
