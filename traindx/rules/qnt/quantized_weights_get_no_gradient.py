"""QNT005 quantized-weights-get-no-gradient."""

from traindx.features.per_module.panels import at_end, named
from traindx.features.per_module.quantization import by_module, late
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, np, rule, threshold


@rule(
    code="QNT005",
    needs=("quant/gradient/*",),
    min_points=1,
    severity="high",
    message="the gradient of the quantized weights of {where} does not reach the weights that are trained",
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
    """A gradient arrives at the quantized copy of a weight, and nothing of it at the weight itself.

    ## What it sees
    The gradient norm at the float weights over that at their quantized copies is nought, typically of the
    last third of the run. Weights that are frozen on purpose, or that no gradient arrives at, are not
    measured.

    ## Why it matters
    Rounding is flat nearly everywhere, its derivative is nought. Without a straight-through estimator the
    quantized layers stay what they were at the start, and the others learn around them.

    ## When it is wrong
    Weights that are meant to stay, and that no optimizer holds; scales that are trained alone.

    ## What to try
    `w + (quantize(w) - w).detach()`, or a `torch.autograd.Function` whose backward pass returns the
    gradient.

    ## Sources
    Bengio et al. (2013), Estimating or propagating gradients through stochastic neurons, arXiv:1308.3432.
    """
    if run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    found = by_module(features, "quant/gradient")
    if found is None or not np.isfinite(found.values).any():
        raise CannotJudge("no gradient arrived at quantized weights so far")
    share = late(found, tail)
    blocked = np.nan_to_num(share, nan=1.0) <= passed
    if not blocked.any():
        return
    worst = int(np.flatnonzero(blocked)[0])
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        values={"where": named(found, blocked)},
        points=(at_end("quant/gradient", found, worst, float(share[worst]), 1.0),),
    )
