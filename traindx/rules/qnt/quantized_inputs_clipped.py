"""QNT008 quantized-inputs-clipped."""

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
    code="QNT008",
    needs=("quant/act_clipped/*",),
    min_points=1,
    severity="medium",
    message="{share:.0%} of the quantized inputs of {where} lie on the ends of the range that they are quantized to",
)
def quantized_inputs_clipped(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.25, "of a layer's inputs", "convention", "as for weights; a range that follows cuts next to none"
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """Much of what a layer is given was cut off at the ends of the quantizer's range.

    ## What it sees
    Of inputs that were computed and lie on an even grid of five levels and more, the share on the first or
    the last level (zeros not counted), typical of the last third of the run. High where the run does not
    learn.

    ## Why it matters
    The scale or the zero point does not fit the activations: what lies beyond is one and the same value, and
    straight-through estimators that clip pass no gradient there.

    ## When it is wrong
    Activations that are meant to saturate (hard sigmoids) and are quantized after that; two and three bits
    put much on the ends.

    ## What to try
    Let the observer follow the activations (or calibrate again), a learnt range, percentiles instead of the
    extremes where outliers make the range wide.

    ## Sources
    Jacob et al. (2018), arXiv:1712.05877; Choi et al. (2018), PACT, arXiv:1805.06085.
    """
    found = by_module(features, "quant/act_clipped")
    if found is None or not np.isfinite(found.values).any():
        raise CannotJudge("no inputs on the levels of a quantizer were measured so far")
    share = np.nan_to_num(late(found, tail))
    cut = share > beyond
    if not cut.any():
        return
    worst = int(share.argmax())
    yield Evidence(
        onset=onset(found, worst, lambda values: values > beyond),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if is_learning(features) is False else "medium",
        values={"share": float(median(share[cut])), "where": named(found, cut)},
        points=(at_end("quant/act_clipped", found, worst, float(share[worst]), beyond, "0..1"),),
    )
