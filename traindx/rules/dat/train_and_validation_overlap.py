"""DAT010 train-and-validation-overlap."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT010",
    needs=("setup:train_val_overlap_share|setup:validation_is_training_data",),
    min_points=1,
    severity="high",
    message="{share:.0%} of the evaluated samples are training samples",
)
def train_and_validation_overlap(
    run: Run,
    features: Features,
    *,
    share: float = threshold(
        0.02, "of the evaluated samples", "convention", "a few copies are in many public data sets"
    ),
    grave: float = threshold(
        0.1, "of the evaluated samples", "convention", "validation then measures memory"
    ),
    by_chance: float = threshold(
        2.0, "x what copies within batches let expect", "theory", "a few copies are counted with an error"
    ),
    whole: float = threshold(
        0.9, "of the training samples", "convention", "the training set itself is evaluated as well"
    ),
) -> Iterator[Evidence]:
    """Samples that are trained on are evaluated as well.

    ## What it sees
    Hashes of the samples in evaluation that were also seen in training, of the worst data set evaluated; a
    pass over the training data itself is not counted, unless nothing else is evaluated and its values are
    logged as those of validation. High from 10 %, medium below; low when nearly the whole training set is
    among them, which is what a script does that measures its training accuracy, where the evaluation has no
    loss and no score, and where samples repeat within batches often enough to expect as much by chance, as
    inputs of few possible values do.

    ## Why it matters
    Validation then measures memory, and overfitting is not seen.

    ## When it is wrong
    An evaluation on training data on purpose; very sparse samples that share a hash.

    ## What to try
    Split before augmenting and duplicating; remove the shared samples from one side.

    ## Sources
    Kaufman et al. (2012), Leakage in data mining; fault catalogue rows 79, 80.
    """
    setup = run.setup
    found, held = setup.number("train_val_overlap_share") or 0.0, setup.number("val_samples_hashed")
    trained = setup.number("train_samples_hashed")
    if (setup.number("steps_in_eval_mode_share") or 0.0) > 0:
        raise CannotJudge("it trains in eval mode, so training passes look like evaluation")
    if setup.flag("validation_is_training_data") and any(name.startswith("val/") for name in run.series):
        found, held = 1.0, None
    if found < share:
        return
    everything = bool(held and trained and found * held >= whole * trained)
    copies, chance = setup.number("batch_duplicate_samples_share"), setup.number("samples_duplicate_chance")
    single = (
        held is not None and round(found * held) < 2
    )  # of a small validation set, one sample is over 2 %
    few = single or max(copies or 0.0, chance or 0.0) >= share
    few = few or (
        bool(run.panels) and not any(name.startswith("val/") for name in run.series)
    )  # nothing is claimed
    few = few or found <= by_chance * expected(copies, setup.number("batch_size"), trained)
    yield Evidence(
        severity="low" if everything or few else "high" if found >= grave else "medium",
        strength=1 / 4 if everything or few else 1.0 if found >= grave else 1 / 2,
        aspects=("whole-training-set",) if everything else ("few-values",) if few else ("part",),
        values={"share": found},
        points=(EvidencePoint("train_val_overlap_share", None, found, 0.0, "0..1"),),
    )


def expected(copies: float | None, batch: float | None, trained: float | None) -> float:
    """The share of held-out samples that equal one of `trained` samples by chance, where `copies` is the share of
    samples that repeat within a `batch`: two samples are equal with the same chance everywhere."""
    if not copies or not batch or batch < 2 or not trained:
        return 0.0
    return min(1.0, 2 * copies / (batch - 1) * trained)
