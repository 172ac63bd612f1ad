"""GRD010 clipping-never-active."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="GRD010",
    needs=("clip_ratio|grad_norm", "clip_ratio|setup:clip_norm"),
    min_points=50,
    severity="info",
    message="gradient clipping was not active at any logged step",
)
def clipping_never_active(
    run: Run,
    features: Features,
    *,
    untouched: float = threshold(
        1.0, "of the gradient", "theory", "a ratio of 1 leaves the gradient as it is"
    ),
) -> Iterator[Evidence]:
    """Gradient clipping is on, but no logged step is clipped.

    ## What it sees
    Every logged gradient norm is at or below the clipping norm, in at least 50 rows.

    ## Why it matters
    Nothing is wrong. The clip has had no effect so far. If it should prevent spikes, it is too loose.

    ## When it is wrong
    A log of every hundredth step does not show the steps between.

    ## What to try
    Nothing as long as training is stable.

    ## Sources
    Pascanu et al. (2013), section 3.2: a clipping norm of half to ten times the average norm,
    arXiv:1211.5063.
    """
    steps, ratios = api.clip_ratios(features)
    if float(np.min(ratios)) < untouched:
        return
    yield Evidence(
        onset=float(steps[0]),
        last=float(steps[-1]),
        strength=0.5,
        points=(EvidencePoint("clip_ratio", float(steps[-1]), float(np.min(ratios)), untouched),),
    )
