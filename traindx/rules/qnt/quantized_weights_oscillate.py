"""QNT006 quantized-weights-oscillate."""

from traindx.features.per_module.panels import evidence_at_end, name_marked_modules
from traindx.features.per_module.quantization import late_values, trained_quantized
from traindx.rules.api import Evidence, Features, Iterator, Run, median, np, rule, threshold


@rule(
    code="QNT006",
    needs=("quant/flips/*", "setup:quantized_levels"),
    min_points=1,
    severity="medium",
    message="{share:.1%} of the quantized weights of {where} still change their level at every step "
    "at the end",
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
    """Many weights still jump between grid points at every step when the run ends.

    ## What it sees
    On grids of 16 levels or fewer, the share of a module's quantized values that changed their level since
    the step before. Its median over the last third of the run must exceed 1 % per level.

    ## Why it matters
    The effective weights jump by whole levels although the float weights hardly move. The statistics of
    normalization layers fit none of the networks in between, and which of them is saved is chance.

    ## When it is wrong
    Runs that are stopped long before the learning rate has decayed.

    ## What to try
    A learning rate that decays to zero. Freeze weights that oscillate, or pull them to the grid points.
    Re-estimate the normalization statistics at the end.

    ## Sources
    Nagel et al. (2022), Overcoming oscillations in quantization-aware training, arXiv:2203.11086. Measured:
    0.1 to 0.3 % in healthy runs of 1 to 8 bits.
    """
    found = trained_quantized(features, "quant/flips", "no two consecutive steps were measured")
    levels = run.setup.number("quantized_levels")
    if levels is None or levels > few:
        return
    share, most = np.nan_to_num(late_values(found, tail)), flips * levels
    if not (share > most).any():
        return
    worst = int(share.argmax())
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        values={
            "share": float(median(share[share > most])),
            "where": name_marked_modules(found, share > most),
        },
        points=(evidence_at_end("quant/flips", found, worst, float(share[worst]), most, "0..1"),),
    )
