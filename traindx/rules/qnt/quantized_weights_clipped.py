"""QNT007 quantized-weights-clipped."""

from traindx.features.per_module.panels import evidence_at_end, name_marked_modules
from traindx.features.per_module.quantization import late_values, onset, trained_quantized
from traindx.rules.api import Evidence, Features, Iterator, Panel, Run, api, is_learning, np, rule, threshold


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
    Some float weights are more than half a level beyond the last level of their grid. The median of their
    share over the last third of the run must exceed 25 %. Grids of fewer than five levels are not judged. Severity is
    medium, and high if the run does not learn.

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
    found = trained_quantized(
        features, "quant/clipped", "no weights on a grid of five levels or more were measured"
    )
    yield from clipped_evidence(features, "quant/clipped", found, beyond, tail)


def clipped_evidence(
    features: Features, signal: str, found: Panel, beyond: float, tail: float
) -> Iterator[Evidence]:
    """The modules of which more than `beyond` is clipped over the last `tail` of the run."""
    share = np.nan_to_num(late_values(found, tail))
    cut = share > beyond
    if not cut.any():
        return
    worst = int(share.argmax())
    yield Evidence(
        onset=onset(found, worst, lambda values: values > beyond),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if is_learning(features) is False else "medium",
        values={"share": float(api.median(share[cut])), "where": name_marked_modules(found, cut)},
        points=(evidence_at_end(signal, found, worst, float(share[worst]), beyond, "0..1"),),
    )
