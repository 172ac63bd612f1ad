"""GRD009 clipping-always-active."""

from traindx.features.curves.gradient_norms import clip_ratios
from traindx.features.performance.level_shifts import start_up
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="GRD009",
    needs=("clip_ratio|grad_norm", "clip_ratio|setup:clip_norm"),
    min_points=10,
    severity="medium",
    message="{share:.0%} of the steps are clipped, typically to {ratio:.2g} of their gradient",
)
def clipping_always_active(
    run: Run,
    features: Features,
    *,
    always: float = threshold(0.95, "of the steps", "convention", "nearly every step"),
    tight: float = threshold(0.1, "of the gradient", "convention", "an order of magnitude cut away"),
    start: float = threshold(0.05, "of the run", "convention", "the first gradients are large"),
) -> Iterator[Evidence]:
    """Gradient clipping cuts on nearly every step.

    ## What it sees
    The norm is above the clipping norm in 95 % of the rows after the start. Medium when the typical step
    keeps less than a tenth of its gradient (low under Adam and its kin, whose step does not depend on the
    gradient's scale), otherwise information.

    ## Why it matters
    The clipping norm then sets the length of every step, in place of the learning rate.

    ## When it is wrong
    Clipping at 1 with norms of 2 or 3 is everyday practice and does no harm.

    ## What to try
    Compare with the usual norm; loosen the clip, or read the learning rate as a normalized one.

    ## Sources
    Pascanu, Mikolov, Bengio (2013); Zhang et al. (2020), Why gradient clipping accelerates training.
    """
    steps, ratios = clip_ratios(
        features.curve("clip_ratio"), features.curve("grad_norm"), run.setup.clip_norm
    )
    skip = start_up(len(ratios), start, 1)
    steps, ratios = steps[skip:], ratios[skip:]
    if len(ratios) == 0:
        raise CannotJudge("clip_ratio is not a ratio in 0..1")
    share, typical = float(np.mean(ratios < 1)), float(median(ratios))
    if share < always:
        return
    strong = typical < tight
    scale_free = any(
        word in (run.setup.optimizer or "").lower() for word in ("adam", "lamb", "lion", "rmsprop")
    )
    severity: Severity = "info" if not strong else "low" if scale_free else "medium"
    yield Evidence(
        onset=float(steps[0]),
        last=float(steps[-1]),
        strength=1.0 if strong else 1 / 4,
        severity=severity,
        aspects=("tight",) if strong else ("mild",),
        values={"share": share, "ratio": typical},
        points=(EvidencePoint("clip_ratio", float(steps[-1]), typical, 1.0),),
    )
