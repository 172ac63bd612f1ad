"""DAT007 classes-imbalanced."""

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    by_progress,
    rule,
    threshold,
)


@rule(
    code="DAT007",
    needs=("setup:class_counts_max_min_ratio",),
    min_points=1,
    severity="low",
    message="the most frequent class has {ratio:.0f} times the samples of the rarest",
)
def classes_imbalanced(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(10.0, "x", "seed", "requirements: max/min over 10"),
    samples: float = threshold(
        20.0, "samples a class", "theory", "chance alone makes ratios of 3 at 10 a class"
    ),
    sorted_by_class: float = threshold(0.3, "0..1", "measured", "as batches-sorted-by-class"),
) -> Iterator[Evidence]:
    """Some classes are much rarer than others in the training data.

    ## What it sees
    Counts per class over the batches looked at. Medium where the run does not learn, low elsewhere; info
    where rare classes count more in the loss already.

    ## Why it matters
    Always answering the frequent class is a good start and often the end; accuracy does not show it.

    ## When it is wrong
    Long tails are in the nature of many tasks (words, species); next-token targets are not judged.

    ## What to try
    Recall per class, balanced accuracy; class weights or resampling.

    ## Sources
    He, Garcia (2009), Learning from imbalanced data; fault catalogue row 74.
    """
    setup = run.setup
    times, seen = setup.number("class_counts_max_min_ratio"), setup.number("classes_seen")
    read = setup.number("inputs_samples_read")
    if (
        setup.number("tokens_max") is not None and setup.facts.get("targets_shape") != ""
    ):  # "": one class a text
        raise CannotJudge("targets are tokens, whose frequencies differ by nature")
    if (setup.number("batch_class_purity") or 0.0) >= sorted_by_class:
        raise CannotJudge("samples come sorted by class, so that only some classes were counted")
    if read is not None and seen and read < samples * seen:
        raise CannotJudge(f"needs {samples:.0f} samples a class")
    if times is None or times <= ratio:
        return
    weighted = bool(setup.flag("loss_weighted"))
    yield Evidence(
        severity="info" if weighted else by_progress(features, stuck="medium", unknown="low", learns="low"),
        strength=1 / 4 if weighted else 1.0,
        aspects=("weighted",) if weighted else (),
        values={"ratio": times},
        points=(EvidencePoint("class_counts_max_min_ratio", None, times, ratio),),
    )
