"""QNT001 quantization-gap-widens."""

from traindx.features.curves.generalization import rise_after_low
from traindx.features.per_module.quantization import gaps
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="QNT001",
    needs=("quant/loss_gap|val/*|train/*",),
    min_points=1,
    severity="high",
    message="the quantization gap {name} grew from {low:.4g} at step {at:g} to {end:.4g} (median "
    "at the end)",
)
def quantization_gap_widens(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(4.0, "x the gap's own noise", "theory", "4 sigma: 1 in 30,000"),
    share: float = threshold(
        0.1, "of the float metric's progress", "convention", "a tenth of what was learned is lost"
    ),
    times: float = threshold(2.0, "x the least gap", "convention", "doubled, if the progress is not known"),
) -> Iterator[Evidence]:
    """The gap between the quantized and the float metric grows while training continues.

    ## What it sees
    `quant/loss_gap`, or a pair of logged metrics of which one is called quantized (`val/loss` and
    `val/quantized_loss`). The gap at the end must exceed its smallest value by 4 times its noise, and by a
    tenth of what the float metric has gained. If the gain is not known, it must reach twice the smallest
    gap. A gap that is constant or closes is not reported.

    ## Why it matters
    The network learns what does not survive quantization: the deployed model gets worse while the float
    model gets better.

    ## When it is wrong
    The gap may have been measured on a few batches that differ from one time to the next.

    ## What to try
    Start quantization later or earlier, use finer groups, or recalibrate the ranges.

    ## Sources
    Jacob et al. (2018), Quantization and training of neural networks for efficient integer-arithmetic-only
    inference, arXiv:1712.05877. Nagel et al. (2021), A white paper on neural network quantization,
    arXiv:2106.08295.
    """
    found = gaps(features)
    if not found:
        raise CannotJudge("needs a metric recorded both with and without quantization")
    for gap in found:
        rise = rise_after_low(gap.curve.values)
        if rise is None or rise.after < 2 or rise.z < noise:
            continue
        if gap.span is not None and rise.size < share * gap.span:
            continue
        if gap.span is None and rise.end < times * max(rise.low, 0.0):
            continue
        at, last = gap.curve.step_at(rise.at), gap.curve.step_at(gap.curve.n - 1)
        unit = "loss" if "loss" in gap.name else ""
        yield Evidence(
            onset=at,
            last=last,
            where=gap.name,
            strength=1.0 if gap.span and rise.size > times * share * gap.span else 0.5,
            values={"name": gap.name, "low": rise.low, "at": at, "end": rise.end},
            points=(EvidencePoint(gap.name, last, rise.end, rise.low, unit),),
        )
        return
