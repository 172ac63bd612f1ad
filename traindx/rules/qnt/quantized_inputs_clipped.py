"""QNT008 quantized-inputs-clipped."""

from traindx.features.per_module.panels import module_panel
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, np, rule, threshold
from traindx.rules.qnt.quantized_weights_clipped import clipped_evidence


@rule(
    code="QNT008",
    needs=("quant/act_clipped/*",),
    min_points=1,
    severity="medium",
    message="{share:.0%} of the inputs of {where} are clipped to the ends of the quantization range",
)
def quantized_inputs_clipped(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.25,
        "of a layer's inputs",
        "convention",
        "as for weights; a range that is updated clips almost none",
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """Many inputs of a quantized layer are clipped at the ends of the quantization range.

    ## What it sees
    The share of a layer's inputs that are on the first or the last level of an even grid of five levels or
    more (zeros are not counted). Its median over the last third of the run must exceed 25 %. Severity is
    medium, and high if the run does not learn.

    ## Why it matters
    The scale or the zero point does not fit the activations. Values beyond the range become one and the same
    value, and a straight-through estimator that clips passes no gradient there.

    ## When it is wrong
    Activations that saturate on purpose (hard sigmoid) before they are quantized. With two or three bits
    many values are at the ends.

    ## What to try
    Let the observer follow the activations, or recalibrate it. Use a learned range, or percentiles instead
    of extremes if outliers widen the range.

    ## Sources
    Jacob et al. (2018), arXiv:1712.05877. Choi et al. (2018), PACT: parameterized clipping activation for
    quantized neural networks, arXiv:1805.06085.
    """
    found = module_panel(features, "quant/act_clipped")
    if found is None or not np.isfinite(found.values).any():
        raise CannotJudge("no inputs on the levels of a quantizer were measured")
    yield from clipped_evidence(features, "quant/act_clipped", found, beyond, tail)
