"""DAT007 classes-imbalanced."""

from traindx.features.comparisons.outputs_of_loss import is_language
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="DAT007",
    needs=("setup:class_counts_max_min_ratio",),
    min_points=1,
    severity="low",
    message="the most frequent class has {ratio:.0f} times as many samples as the rarest",
)
def classes_imbalanced(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(10.0, "x", "convention", "ten to one is usually called imbalanced"),
    samples: float = threshold(
        20.0, "samples a class", "theory", "with 10 per class, chance alone gives ratios of 3"
    ),
    sorted_by_class: float = threshold(0.3, "0..1", "measured", "as in batches-sorted-by-class"),
) -> Iterator[Evidence]:
    """Some classes are much rarer than others in the training data.

    ## What it sees
    Counts per class in the batches that were read. Severity is medium if the run does not learn, and low
    otherwise. It is info if rare classes already count more in the loss.

    ## Why it matters
    Always predicting the most frequent class gives a low loss, and training often stops there. Accuracy
    does not show it.

    ## When it is wrong
    Many tasks have rare classes by nature (words, species). Next-token targets are not judged.

    ## What to try
    Report recall per class or balanced accuracy. Use class weights or resampling.

    ## Sources
    He, Garcia (2009), Learning from imbalanced data, https://doi.org/10.1109/TKDE.2008.239.
    """
    setup = run.setup
    times, seen = setup.number("class_counts_max_min_ratio"), setup.number("classes_seen")
    read = setup.number("inputs_samples_read")
    # A targets_shape of "" is one class per text, whose frequencies can be judged, or one next token.
    texts = setup.facts.get("targets_shape") == "" and not is_language(run)
    if setup.number("tokens_max") is not None and not texts:
        raise CannotJudge("targets are tokens, whose frequencies differ by nature")
    if (setup.number("batch_class_purity") or 0.0) >= sorted_by_class:
        raise CannotJudge("samples are sorted by class, so only some classes were counted")
    if read is not None and seen and read < samples * seen:
        raise CannotJudge(f"needs {samples:.0f} samples per class")
    if times is None or times <= ratio:
        return
    weighted = bool(setup.flag("loss_weighted"))
    yield Evidence(
        severity="info"
        if weighted
        else api.progress_severity(features, stuck="medium", unknown="low", learns="low"),
        strength=1 / 4 if weighted else 1.0,
        aspects=("weighted",) if weighted else (),
        values={"ratio": times},
        points=(api.EvidencePoint("class_counts_max_min_ratio", None, times, ratio),),
    )
