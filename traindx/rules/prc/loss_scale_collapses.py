"""PRC003 loss-scale-collapses."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


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
    fall: float = threshold(2.0**8, "x below its level", "convention", "eight halvings without recovery"),
    rest: float = threshold(3, "rows without a fall", "convention", "then the first scale is found"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "a visible rise"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "1 in 15,000 under normal noise"),
) -> Iterator[Evidence]:
    """The dynamic loss scale falls to a small value and does not recover.

    ## What it sees
    A loss scale that ends at 1 or below, or 256 times below the level at which it had settled. Severity is
    high if the loss or the gradient norm is lost with it, and low while both stay finite and the loss does
    not rise.

    ## Why it matters
    The scale falls only when gradients overflow. At the bottom they overflow at any scale, or are not finite
    for another reason, and no optimizer step is taken any more.

    ## When it is wrong
    The search for the first scale is a long fall too, but it ends far above 1. A scale that never changes is
    fixed.

    ## What to try
    Find the step at which gradients stopped being finite. Try bfloat16.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, arXiv:1710.03740. fairseq, dynamic loss scaler
    ("minimum loss scale reached"):
    https://github.com/facebookresearch/fairseq/blob/main/fairseq/optim/dynamic_loss_scaler.py.
    """
    curve = features.needed_curve("loss_scale")
    steps, scale = curve.steps[curve.values > 0], curve.values[curve.values > 0]
    if len(scale) < 2 or np.ptp(scale) == 0:
        return
    begin = api.settling_row(scale, rows=int(rest))
    settled = float(scale.max()) if begin is None else float(scale[begin:].max())
    end = float(api.median(scale[-int(rest) :])) if len(scale) > rest else float(scale[-1])
    sunk = settled / end >= fall and begin is not None
    if not sunk and not (end <= floor and scale.max() > 2 * end):
        return
    settled = settled if sunk else float(scale.max())
    level = max(floor, settled / fall) if sunk else floor
    first = int(np.flatnonzero(scale > level)[-1]) + 1 if np.any(scale > level) else 0
    onset = float(steps[min(first, len(steps) - 1)])
    hurt = api.is_worse_from(features, onset, share=worse, score=score)
    yield Evidence(
        onset=onset,
        last=float(steps[-1]),
        strength=1.0 if hurt else 0.5,
        severity="high" if hurt else "low",
        aspects=("training-lost",) if hurt else ("loss-unharmed",),
        values={"settled": settled, "end": end},
        points=(EvidencePoint("loss_scale", float(steps[-1]), end, settled),),
    )
