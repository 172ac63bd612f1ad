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
        0.02, "of the evaluated samples", "convention", "many public data sets have a few copies"
    ),
    grave: float = threshold(
        0.1, "of the evaluated samples", "convention", "validation then measures memorization"
    ),
    by_chance: float = threshold(
        2.0, "x the share expected by chance", "theory", "the count of a few copies has an error"
    ),
    identify: float = threshold(
        3, "features", "theory", "samples that agree in three fine-grained features are copies"
    ),
    whole: float = threshold(
        0.9, "of the training samples", "convention", "the training set itself is evaluated"
    ),
) -> Iterator[Evidence]:
    """Samples used for training are also used for validation.

    ## What it sees
    Hashes of evaluated samples that were also seen in training, for the worst evaluated data set. A pass over
    the training data itself is not counted, unless nothing else is evaluated and its values are logged as
    validation. Severity is high from 10 % on and medium below. It is low in three cases: nearly the whole
    training set is evaluated (the script measures its training accuracy), the evaluation logs no loss or
    score, or samples repeat within batches so often that chance explains the overlap. Where three features
    have nearly as many values as there are samples, equal samples are copies, as after oversampling.

    ## Why it matters
    Validation then measures memorization and does not show overfitting.

    ## When it is wrong
    The script may evaluate training data on purpose. Very sparse samples can share a hash.

    ## What to try
    Split before augmenting and duplicating. Remove the shared samples from one set.

    ## Sources
    Kaufman et al. (2012), Leakage in data mining, https://doi.org/10.1145/2382577.2382579.
    """
    setup = run.setup
    found, trained = setup.number("train_val_overlap_share") or 0.0, setup.number("train_samples_hashed")
    held = setup.number("val_samples_hashed")
    if (setup.number("steps_in_eval_mode_share") or 0.0) > 0:
        raise CannotJudge("the run trains in eval mode, so training passes look like evaluation")
    if setup.flag("validation_is_training_data") and any(name.startswith("val/") for name in run.series):
        found, held = 1.0, None
    if found < share:
        return
    everything = bool(held and trained and found * held >= whole * trained)
    single = held is not None and round(found * held) < 2  # of a small validation set more than 2 %
    unscored = bool(run.panels) and not any(name.startswith("val/") for name in run.series)
    few = single or unscored or equal_by_chance(run, found, (by_chance, share, identify))
    yield Evidence(
        severity="low" if everything or few else "high" if found >= grave else "medium",
        strength=1 / 4 if everything or few else 1.0 if found >= grave else 1 / 2,
        aspects=("whole-training-set",) if everything else ("few-values",) if few else ("part",),
        values={"share": found},
        points=(EvidencePoint("train_val_overlap_share", None, found, 0.0, "0..1"),),
    )


def equal_by_chance(run: Run, found: float, bounds: tuple[float, float, float]) -> bool:
    """Whether samples have so few values that this share of them is equal by chance, and they are no copies."""
    setup, (times, share, identify) = run.setup, bounds
    copies, chance = setup.number("batch_duplicate_samples_share"), setup.number("samples_duplicate_chance")
    expected = expected_by_chance(copies, setup.number("batch_size"), setup.number("train_samples_hashed"))
    likely = found <= times * expected or max(copies or 0.0, chance or 0.0) >= share
    return likely and (setup.number("inputs_identifying_features") or 0.0) < identify


def expected_by_chance(copies: float | None, batch: float | None, trained: float | None) -> float:
    """The share of validation samples that equal one of `trained` samples by chance, where `copies` is the
    share of samples that repeat within a `batch`: any two samples are equal with the same probability."""
    if not copies or not batch or batch < 2 or not trained:
        return 0.0
    return min(1.0, 2 * copies / (batch - 1) * trained)
