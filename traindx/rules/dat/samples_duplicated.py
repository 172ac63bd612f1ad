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
        0.02, "of a batch", "convention", "copies within one batch: of many in the set"
    ),
    missing: float = threshold(
        0.1, "of the samples", "convention", "fewer different samples than the set has"
    ),
    passes: float = threshold(3.0, "epochs", "convention", "all samples have been seen by then"),
    natural: float = threshold(0.05, "by chance", "theory", "few values repeat without being copies"),
) -> Iterator[Evidence]:
    """Training samples come more than once in the data.

    ## What it sees
    Samples with the same hash within a batch; or fewer different samples than the data set holds, after
    three epochs. In a data file: samples that are equal in every feature; information where the features
    take so few values that samples repeat by chance.

    ## Why it matters
    Copies count double, and copies on both sides of a split make validation too good.

    ## When it is wrong
    Sampling with replacement repeats on purpose and is not judged; blank or very sparse samples can share a
    hash.

    ## What to try
    Drop duplicates before splitting; split by group.

    ## Sources
    Barz, Denzler (2020), Do we train on test data? (ciFAIR); fault catalogue row 80.
    """
    setup = run.setup
    if "weighted" in setup.word("sampler") or setup.flag("replacement"):
        raise CannotJudge("samples are drawn with replacement")
    share = setup.number("batch_duplicate_samples_share") or 0.0
    size, kept, seen = (
        setup.number("dataset_size"),
        setup.number("train_samples_hashed"),
        setup.number("batches_seen"),
    )
    batch = setup.number("batch_size")
    if size and kept and seen and batch and seen * batch >= passes * size and kept < (1 - missing) * size:
        share = max(share, 1 - kept / size)
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
