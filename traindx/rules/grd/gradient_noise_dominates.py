"""GRD011 gradient-noise-dominates."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, median, rule, threshold


@rule(
    code="GRD011",
    needs=("grad_noise_scale", "batch_size|setup:batch_size", "objective"),
    min_points=5,
    severity="medium",
    message="the gradient noise scale is {scale:.0f} samples, but a batch has only {batch:.0f}",
)
def gradient_noise_dominates(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        10.0, "x the batch size", "theory", "McCandlish 2018: a step makes 1/11 of the best progress"
    ),
    warm: float = threshold(0.1, "of the run", "convention", "first steps are left out"),
) -> Iterator[Evidence]:
    """The gradient of a batch is mostly noise, and the run does not learn.

    ## What it sees
    The gradient noise scale: the variance of the gradient divided by its square, in samples. Its median
    after the first tenth of the run must be at least 10 times the batch size. Severity is medium if the run
    does not learn and low if that is not known. A run that learns is not reported.

    ## Why it matters
    The steps of such small batches go in random directions. A larger batch or a smaller learning rate
    averages more of the noise.

    ## When it is wrong
    Near the end of a good run the gradient is small and only noise is left, which is why a run that learns
    is not reported. If the labels carry no information, the gradient is noise whatever the batch size.

    ## What to try
    Accumulate gradients over more batches, use a larger batch, or lower the learning rate.

    ## Sources
    McCandlish et al. (2018), An empirical model of large-batch training, arXiv:1812.06162. At 10 times the
    batch size a step makes 1/11 of the progress of a step with the exact gradient.
    """
    scale, sizes = features.needed_curve("grad_noise_scale"), features.curve("batch_size")
    batch = float(median(sizes.values)) if sizes is not None and sizes.n else run.setup.number("batch_size")
    if not batch or batch <= 0:
        raise CannotJudge("the batch size is not known")
    skip = api.start_up(scale.n, warm)
    level = float(median(scale.values[skip:]))
    learning = api.is_learning(features)
    if learning or level < factor * batch:
        return
    yield Evidence(
        onset=scale.step_at(skip),
        last=scale.step_at(scale.n - 1),
        strength=1.0 if learning is False else 0.5,
        severity="medium" if learning is False else "low",
        values={"scale": level, "batch": batch},
        points=(api.EvidencePoint("grad_noise_scale", scale.step_at(scale.n - 1), level, batch, "samples"),),
    )
