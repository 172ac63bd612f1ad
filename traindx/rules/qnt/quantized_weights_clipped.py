"""QNT007 quantized-weights-clipped."""

from traindx.features.per_module.panels import at_end, named
from traindx.features.per_module.quantization import by_module, late, onset
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    Features,
    Iterator,
    Run,
    is_learning,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="QNT007",
    needs=("quant/clipped/*",),
    min_points=1,
    severity="medium",
    message="{share:.0%} of the weights of {where} are beyond the quantization range",
)
def quantized_weights_clipped(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.25, "of a module's weights", "measured", "healthy runs end below 0.05; learned ranges clip some"
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """Many weights of a layer are clipped at the ends of the quantization grid.

    ## What it sees
    On grids of five levels or more, the share of float weights that are more than half a level beyond the
    last one. Its median over the last third of the run must exceed 25 %. Severity is medium, and high if the
    run does not learn.

    ## Why it matters
    The scale or the zero point does not fit the weights: it was calibrated before they grew, is learned too
    fast, or is not updated. Weights beyond the range have one and the same value, and get no gradient if the
    estimator clips.

    ## When it is wrong
    Some methods for very few bits clip the range on purpose.

    ## What to try
    Start quantization (or calibrate the ranges) later, update the ranges during training, use a scale per
    channel, or the gradient factor 1 / sqrt(weights x levels) for learned step sizes.

    ## Sources
    Jacob et al. (2018), arXiv:1712.05877. Esser et al. (2020), Learned step size quantization,
    arXiv:1902.08153. Measured: healthy runs end below 5 %.
    """
    if run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    found = by_module(features, "quant/clipped")
    if found is None or not np.isfinite(found.values).any():
        raise CannotJudge("no weights on a grid of five levels or more were measured so far")
    share = np.nan_to_num(late(found, tail))
    cut = share > beyond
    if not cut.any():
        return
    worst = int(share.argmax())
    learning = is_learning(features)
    yield Evidence(
        onset=onset(found, worst, lambda values: values > beyond),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if learning is False else "medium",
        values={"share": float(median(share[cut])), "where": named(found, cut)},
        points=(at_end("quant/clipped", found, worst, float(share[worst]), beyond, "0..1"),),
    )
