"""QNT005 quantized-weights-get-no-gradient."""

from traindx.features.per_module.panels import evidence_at_end, name_marked_modules
from traindx.features.per_module.quantization import late_values, trained_quantized
from traindx.rules.api import Evidence, Features, Iterator, Run, np, rule, threshold


@rule(
    code="QNT005",
    needs=("quant/gradient/*",),
    min_points=1,
    severity="high",
    message="no gradient of the quantized weights of {where} reaches the weights that are trained",
)
def quantized_weights_get_no_gradient(
    run: Run,
    features: Features,
    *,
    passed: float = threshold(
        0.0, "of the gradient's norm", "theory", "rounding is flat: without an estimator it passes 0"
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """The gradient of a quantized weight does not reach the float weight that is trained.

    ## What it sees
    The gradient norm at the float weights divided by that at their quantized copies. Its median over the
    last third of the run must be exactly 0. Frozen weights, and weights whose copies get no gradient, are
    not measured.

    ## Why it matters
    Rounding is flat almost everywhere, so its derivative is zero. Without a straight-through estimator the
    quantized layers stay at their initialization, and the others adapt to them.

    ## When it is wrong
    Weights that are meant to be fixed and that no optimizer holds. Scales that are trained alone.

    ## What to try
    `w + (quantize(w) - w).detach()`, or a `torch.autograd.Function` whose backward pass returns the
    gradient.

    ## Sources
    Bengio et al. (2013), Estimating or propagating gradients through stochastic neurons for conditional
    computation, arXiv:1308.3432.
    """
    found = trained_quantized(features, "quant/gradient", "no gradient of quantized weights was measured")
    share = late_values(found, tail)
    blocked = np.nan_to_num(share, nan=1.0) <= passed
    if not blocked.any():
        return
    worst = int(np.flatnonzero(blocked)[0])
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        values={"where": name_marked_modules(found, blocked)},
        points=(evidence_at_end("quant/gradient", found, worst, float(share[worst]), 1.0),),
    )
