"""GRD010 clipping-never-active."""

from traindx.features.curves.gradient_norms import clip_ratios
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    np,
    rule,
    threshold,
)


@rule(
    code="GRD010",
    needs=("clip_ratio|grad_norm", "clip_ratio|setup:clip_norm"),
    min_points=50,
    severity="info",
    message="gradient clipping has not cut a single logged step",
)
def clipping_never_active(
    run: Run,
    features: Features,
    *,
    untouched: float = threshold(1.0, "of the gradient", "theory", "a ratio of 1 cuts nothing"),
) -> Iterator[Evidence]:
    """Gradient clipping is on, but no logged step reached it.

    ## What it sees
    Every logged norm is at or below the clipping norm.

    ## Why it matters
    Nothing is wrong; but the clip guards against nothing that has happened so far, and if it was meant to
    tame spikes, it is too loose.

    ## When it is wrong
    Logs of every hundredth step do not show the steps between.

    ## What to try
    Nothing while training is stable.

    ## Sources
    Pascanu, Mikolov, Bengio (2013), section 3.2: a clip of half to ten times the average norm.
    """
    steps, ratios = clip_ratios(
        features.curve("clip_ratio"), features.curve("grad_norm"), run.setup.clip_norm
    )
    if len(ratios) == 0:
        raise CannotJudge("clip_ratio is not a ratio in 0..1")
    if float(np.min(ratios)) < untouched:
        return
    yield Evidence(
        onset=float(steps[0]),
        last=float(steps[-1]),
        strength=0.5,
        points=(EvidencePoint("clip_ratio", float(steps[-1]), float(np.min(ratios)), untouched),),
    )
