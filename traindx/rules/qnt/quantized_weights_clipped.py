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
    message="{share:.0%} of the weights of {where} lie beyond the range that they are quantized to",
)
def quantized_weights_clipped(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.25, "of a module's weights", "measured", "healthy nets end below 0.05; learnt ranges cut some"
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """A large share of a layer's weights is cut off at the ends of the quantization grid.

    ## What it sees
    Of grids with five levels and more, the share of the float weights that lie more than half a level beyond
    the last one, typical of the last third of the run. High where the run does not learn.

    ## Why it matters
    The scale (or zero point) does not fit the weights: it was calibrated before they grew, is learnt too
    fast, or is not updated. What lies beyond is used as one and the same value, and gets no gradient where
    the estimator clips.

    ## When it is wrong
    Ranges that are clipped on purpose, as some methods for very few bits do.

    ## What to try
    Begin quantization (or calibrate the ranges) later, update the ranges in training, a scale for each
    channel; the factor 1 / sqrt(n x levels) for learnt step sizes.

    ## Sources
    Jacob et al. (2018), arXiv:1712.05877; Esser et al. (2020), arXiv:1902.08153.
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
