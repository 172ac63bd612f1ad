"""DAT012 batches-sorted-by-class."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="DAT012",
    needs=("setup:batch_class_purity",),
    min_points=1,
    severity="high",
    message="batches contain few classes at a time (purity {purity:.2f}; 0 is shuffled, 1 is one "
    "class per batch)",
)
def batches_sorted_by_class(
    run: Run,
    features: Features,
    *,
    one: float = threshold(1, "optimizer", "theory", "several optimizers: a game, not a classifier"),
    purity: float = threshold(0.3, "0..1", "measured", "shuffled: within 0.02 of 0; sorted: 0.6 and more"),
) -> Iterator[Evidence]:
    """The training samples are sorted by class.

    ## What it sees
    How much more often two samples of a batch share their class than by chance (0: shuffled, 1: one class per
    batch). Severity is high if the run does not learn, and medium otherwise.

    ## Why it matters
    The model follows the class it saw last and forgets the others. Batch statistics describe one class.

    ## When it is wrong
    Samplers for metric learning put few classes in a batch on purpose.

    ## What to try
    Shuffle the samples, not only the batches.

    ## Sources
    Bottou (2012), Stochastic gradient descent tricks, https://doi.org/10.1007/978-3-642-35289-8_25.
    """
    if features.is_game or (run.setup.number("optimizers") or one) > one:
        raise CannotJudge("several optimizers: adversarial networks get one class at a time on purpose")
    found = run.setup.number("batch_class_purity")
    if found is None or found < purity:
        return
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="medium"),
        values={"purity": found},
        points=(api.EvidencePoint("batch_class_purity", None, found, 0.0, "0..1"),),
    )
