"""QNT002 ternary-weights-collapse."""

from traindx.features.per_module.panels import evidence_at_end, module_panel, name_marked_modules
from traindx.features.per_module.quantization import late_values, onset
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="QNT002",
    needs=("quant/zero_fraction/*|quant/majority/*",),
    min_points=1,
    severity="high",
    message="{share:.1%} of the quantized weights of {where} have the same value",
    follows=("quantized-gradients-imbalanced",),
)
def ternary_weights_collapse(
    run: Run,
    features: Features,
    *,
    most: float = threshold(
        0.95, "of a module's weights", "measured", "healthy ternary networks have 25-70 % zeros"
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """Almost all weights of a layer are quantized to the same value, usually zero.

    ## What it sees
    The share of zeros, or of the most frequent end level, of each quantized module over the last third of
    the run. It must exceed 95 %. Severity is high if the run does not learn, and medium otherwise. Weights
    that are quantized in evaluation only are not judged.

    ## Why it matters
    A layer of zeros passes no signal, and one with few nonzero weights passes little. The straight-through
    gradient rarely brings the others back.

    ## When it is wrong
    Layers that are pruned on purpose. Very wide layers can work with one weight in twenty.

    ## What to try
    A lower ternary threshold (half of the mean absolute weight), a scale for each output, less weight decay.

    ## Sources
    Li and Liu (2016), Ternary weight networks, arXiv:1605.04711. Ma et al. (2024), The era of 1-bit LLMs,
    arXiv:2402.17764. Measured: 25 to 70 % zeros in healthy ternary networks.
    """
    if run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    signal = (
        "quant/majority" if module_panel(features, "quant/majority") is not None else "quant/zero_fraction"
    )
    found = module_panel(features, signal)
    if found is None:
        raise CannotJudge("no quantized weights were measured")
    share = late_values(found, tail)
    dead = np.nan_to_num(share) > most
    if not dead.any():
        return
    worst = int(np.nanargmax(share))
    learning = api.is_learning(features)
    yield Evidence(
        onset=onset(found, worst, lambda values: values > most),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if learning is False else "medium",
        strength=1.0 if learning is False else 0.5,
        values={"share": float(api.median(share[dead])), "where": name_marked_modules(found, dead)},
        points=(evidence_at_end(signal, found, worst, share[worst], most, "0..1"),),
    )
