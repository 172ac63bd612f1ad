"""GRD011 gradient-noise-dominates."""

from traindx.features.performance.level_shifts import start_up
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    is_learning,
    median,
    rule,
    threshold,
)


@rule(
    code="GRD011",
    needs=("grad_noise_scale", "batch_size|setup:batch_size", "objective"),
    min_points=5,
    severity="medium",
    message="the gradient's noise would take batches of {scale:.0f} samples to average out; a step sees {batch:.0f}",
)
def gradient_noise_dominates(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        10.0, "x the batch size", "theory", "McCandlish 2018: steps then are 1/11 as good as clean ones"
    ),
    warm: float = threshold(0.1, "of the run", "convention", "first steps are left out"),
) -> Iterator[Evidence]:
    """What a step sees of the gradient is mostly noise, and the run does not learn.

    ## What it sees
    The gradient noise scale (variance of the gradient over its square, in samples), in the median after the
    start, at ten times the batch size and more. Only where the objective does not learn; low where that
    cannot be told.

    ## Why it matters
    Steps of such batches wander; a larger batch or a smaller rate makes them worth more.

    ## When it is wrong
    Near the end of a good run the gradient is small and noise is all that is left, which is why a run that
    learns is never blamed. With labels that carry no information there is no gradient but noise.

    ## What to try
    Accumulate gradients over more batches, or lower the learning rate.

    ## Sources
    McCandlish et al. (2018), An empirical model of large-batch training.
    """
    scale, sizes = features.needed_curve("grad_noise_scale"), features.curve("batch_size")
    batch = float(median(sizes.values)) if sizes is not None and sizes.n else run.setup.number("batch_size")
    if not batch or batch <= 0:
        raise CannotJudge("the batch size is not known")
    skip = start_up(scale.n, warm, 1)
    level = float(median(scale.values[skip:]))
    learning = is_learning(features)
    if learning or level < factor * batch:
        return
    yield Evidence(
        onset=scale.step_at(skip),
        last=scale.step_at(scale.n - 1),
        strength=1.0 if learning is False else 0.5,
        severity="medium" if learning is False else "low",
        values={"scale": level, "batch": batch},
        points=(EvidencePoint("grad_noise_scale", scale.step_at(scale.n - 1), level, batch, "samples"),),
    )
