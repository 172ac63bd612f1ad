"""PRC003 loss-scale-collapses."""

from traindx.features.curves.gradient_norms import suffers
from traindx.features.performance.level_shifts import settles
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, median, np, rule, threshold


@rule(
    code="PRC003",
    needs=("loss_scale",),
    min_points=2,
    severity="high",
    message="the loss scale fell from {settled:g} to {end:g} and stayed there",
    follows=("loss-not-finite", "gradient-not-finite"),
)
def loss_scale_collapses(
    run: Run,
    features: Features,
    *,
    floor: float = threshold(1.0, "scale", "theory", "a scale of 1 scales nothing"),
    fall: float = threshold(2.0**8, "x below its level", "convention", "eight halvings unrecovered"),
    rest: float = threshold(3, "rows without a fall", "convention", "then the first scale is found"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "a rise that cannot be overlooked"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "1 in 15,000 under normal noise"),
) -> Iterator[Evidence]:
    """The dynamic loss scale falls to nothing and does not come back.

    ## What it sees
    A scale that ends at or below 1, or 256 times below the level it had settled at. High when the loss or
    the gradient norm is lost with it, low while both stay finite and the loss does not rise.

    ## Why it matters
    The scale only falls when gradients overflow; at the bottom they overflow whatever it is, or are not
    finite for another reason, and no step is taken any more.

    ## When it is wrong
    The search for the first scale is a long fall as well, but it ends far above 1. A scale that never
    changes is a fixed one.

    ## What to try
    Look for the step at which gradients stopped being finite; try bfloat16.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training; fairseq's "minimum loss scale reached".
    """
    curve = features.needed_curve("loss_scale")
    steps, scale = curve.steps[curve.values > 0], curve.values[curve.values > 0]
    if len(scale) < 2 or np.ptp(scale) == 0:
        return
    begin = settles(scale, rows=int(rest))
    settled = float(scale.max()) if begin is None else float(scale[begin:].max())
    end = float(median(scale[-int(rest) :])) if len(scale) > rest else float(scale[-1])
    sunk = settled / end >= fall and begin is not None
    if not sunk and not (end <= floor and scale.max() > 2 * end):
        return
    settled = settled if sunk else float(scale.max())
    level = max(floor, settled / fall) if sunk else floor
    first = int(np.flatnonzero(scale > level)[-1]) + 1 if np.any(scale > level) else 0
    onset = float(steps[min(first, len(steps) - 1)])
    hurt = suffers(features, onset, share=worse, score=score)
    yield Evidence(
        onset=onset,
        last=float(steps[-1]),
        strength=1.0 if hurt else 0.5,
        severity="high" if hurt else "low",
        aspects=("training-lost",) if hurt else ("loss-unharmed",),
        values={"settled": settled, "end": end},
        points=(EvidencePoint("loss_scale", float(steps[-1]), end, settled),),
    )
