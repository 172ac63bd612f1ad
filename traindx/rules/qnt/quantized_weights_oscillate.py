"""QNT006 quantized-weights-oscillate."""

from traindx.features.per_module.panels import at_end, named
from traindx.features.per_module.quantization import by_module, late
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, median, np, rule, threshold


@rule(
    code="QNT006",
    needs=("quant/flips/*", "setup:quantized_levels"),
    min_points=1,
    severity="medium",
    message="{share:.1%} of the quantized weights of {where} change their level in every step, still at the end",
)
def quantized_weights_oscillate(
    run: Run,
    features: Features,
    *,
    flips: float = threshold(
        0.01,
        "of a module's weights a step, for each level",
        "measured",
        "healthy nets of 1, 1.6, 4 and 8 bits: 0.001-0.003; finer grids are crossed more often",
    ),
    few: float = threshold(16, "levels", "paper", "Nagel et al. 2022: it hurts at 4 bits and less"),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
) -> Iterator[Evidence]:
    """Many weights still jump from one grid point to another and back at every step when the run ends.

    ## What it sees
    Of nets with few levels, the share of a module's quantized values that lie on another level than one step
    before, typical of the last third of the run, whatever became of the scale.

    ## Why it matters
    What is used jumps by whole levels though the float weights hardly move. Normalization statistics fit
    none of the nets that are passed through, and which of them is kept at the end is chance.

    ## When it is wrong
    Runs that are stopped long before the rate has come down.

    ## What to try
    A lower rate that falls to nought; freeze weights that jump often, or pull them to the grid's points;
    estimate normalization statistics again at the end.

    ## Sources
    Nagel et al. (2022), Overcoming oscillations in quantization-aware training, arXiv:2203.11086.
    """
    if run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    found = by_module(features, "quant/flips")
    if found is None or not np.isfinite(found.values).any():
        raise CannotJudge("no two steps in a row were looked at so far")
    levels = run.setup.number("quantized_levels")
    if levels is None or levels > few:
        return
    share, most = np.nan_to_num(late(found, tail)), flips * levels
    if not (share > most).any():
        return
    worst = int(share.argmax())
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        values={"share": float(median(share[share > most])), "where": named(found, share > most)},
        points=(at_end("quant/flips", found, worst, float(share[worst]), most, "0..1"),),
    )
