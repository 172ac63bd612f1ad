"""ARC001 model-larger-than-data."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ARC001",
    needs=(
        "setup:parameters",
        "setup:dataset_size",
    ),
    min_points=1,
    severity="info",
    message="{parameters:.3g} parameters for {samples:.0f} training samples",
)
def model_larger_than_data(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(10.0, "parameters per sample", "convention", "a common rule of thumb"),
    gap: float = threshold(0.5, "of the best validation loss", "convention", "has clearly risen again"),
    few: float = threshold(5, "evaluations", "convention", "a minimum needs points on both sides"),
) -> Iterator[Evidence]:
    """The model has many more parameters than there are training samples.

    ## What it sees
    More than 10 parameters per sample. Severity is info, and low if the validation loss has clearly risen
    from its best value. If it has not risen, or for fine-tuning, nothing is reported.

    ## Why it matters
    The model can memorize every sample.

    ## When it is wrong
    Most large models are larger than their data and generalize well, which is why the severity is only info.
    One sample may be a long sequence or a large image, which counts for more.

    ## What to try
    Use weight decay, dropout, augmentation or early stopping, a smaller model, or more data.

    ## Sources
    Zhang et al. (2017), Understanding deep learning requires rethinking generalization,
    https://arxiv.org/abs/1611.03530.
    """
    parameters, samples = run.setup.number("parameters"), run.setup.number("dataset_size")
    if not parameters or not samples or parameters <= ratio * samples or run.setup.flag("finetuning"):
        return
    held = features.curve("val/loss")
    known = held is not None and held.n >= few
    worse = held is not None and known and held.end - held.best > gap * abs(held.best)
    if known and not worse:
        return
    yield Evidence(
        severity="low" if worse else "info",
        strength=1.0 if worse else 0.5,
        aspects=("gap",) if worse else (),
        values={"parameters": parameters, "samples": samples},
        points=(EvidencePoint("parameters", None, parameters, ratio * samples, "parameters"),),
    )
