"""DAT020 labels-contradict."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT020",
    needs=("setup:samples_conflicting", "setup:samples_conflicting_share"),
    min_points=1,
    severity="medium",
    message="{count:.0f} samples occur again with a different target",
)
def labels_contradict(
    run: Run,
    features: Features,
    *,
    share: float = threshold(
        0.005, "of the samples", "convention", "ciFAIR finds fewer in public data sets"
    ),
    natural: float = threshold(
        0.05, "by chance", "theory", "samples with few values repeat without being copies"
    ),
) -> Iterator[Evidence]:
    """The same sample has different targets in different places.

    ## What it sees
    Samples that are equal in every feature and differ in their target. Severity is medium from half a percent
    of the samples on. Below, it is info. It is also info if the features have so few values that samples
    repeat by chance.

    ## Why it matters
    No model can fit both. At least one label is wrong, or a feature that distinguishes the samples is
    missing.

    ## When it is wrong
    Features with few values (survey answers, genotypes) coincide by chance. Several annotators may label each
    sample on purpose.

    ## What to try
    Inspect the rows. Correct the label, or add the feature that distinguishes them.

    ## Sources
    Barz, Denzler (2020), Do we train on test data?, https://arxiv.org/abs/1902.00423.
    """
    setup = run.setup
    count, part = setup.number("samples_conflicting"), setup.number("samples_conflicting_share") or 0.0
    if not count:
        return
    chance = (setup.number("samples_duplicate_chance") or 0.0) >= natural
    grave = part >= share and not chance
    yield Evidence(
        severity="medium" if grave else "info",
        strength=1.0 if grave else 0.5,
        aspects=("few-values",) if chance else (),
        values={"count": count},
        points=(EvidencePoint("samples_conflicting_share", None, part, 0.0, "0..1"),),
    )
