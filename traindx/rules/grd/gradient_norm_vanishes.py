"""GRD005 gradient-norm-vanishes."""

from traindx.features.curves.gradient_norms import improved, shed, usual_level
from traindx.features.statistics.smoothing import trend
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="GRD005",
    needs=("grad_norm", "objective"),
    min_points=8,
    severity="high",
    message="the gradient norm is down to {norm:.1e} while the loss {what}",
)
def gradient_norm_vanishes(
    run: Run,
    features: Features,
    *,
    fall: float = threshold(1e-3, "of the early level", "convention", "three orders of magnitude"),
    tiny: float = threshold(1e-6, "L2", "seed", "requirements: 1e-7 for one layer; the sum of many here"),
    early: float = threshold(0.2, "of the run", "convention", "the stretch that stands for the start"),
    learnt: float = threshold(0.5, "of the first loss", "convention", "half the loss gone is learning"),
    score: float = threshold(8.0, "x spread of the loss", "convention", "a clear improvement"),
    little: float = threshold(0.2, "of the first loss", "convention", "less is hardly learning"),
) -> Iterator[Evidence]:
    """The global gradient norm falls to nearly nothing, or starts there, and the objective stays where it was.

    ## What it sees
    A norm that ends a thousand times below its early level, or that is below 1e-6 throughout, while the
    objective has lost less than half of its first level and not clearly improved; medium where it has, by
    less than a fifth.

    ## Why it matters
    Without gradients nothing is learnt, however long the run goes on.

    ## When it is wrong
    A net that has converged has tiny gradients too, which is why the loss must have stayed high; norms
    printed as 0.000 are not judged here.

    ## What to try
    See the gradients layer by layer; look for saturated or silent units.

    ## Sources
    Hochreiter (1991); Glorot and Bengio (2010), Understanding the difficulty of training deep feedforward
    neural networks.
    """
    norm, objective = features.needed_curve("grad_norm"), features.needed_curve("objective")
    steps, values = norm.steps[norm.values > 0], norm.values[norm.values > 0]
    if len(values) <= norm.n // 2:
        raise CannotJudge("most gradient norms are exactly zero")
    gone = shed(objective)
    if gone >= learnt or (gone >= little and improved(objective, share=learnt, score=score)):
        return
    gains = gone > 0 and improved(objective, share=learnt, score=score)
    level = usual_level(values, share=early)
    smooth = np.exp(trend(np.log(values)))
    end = float(median(smooth[-3:]))
    throughout = float(median(values)) <= tiny
    if not throughout and end > fall * level:
        return
    onset = 0 if throughout else int(np.argmax(smooth <= fall * level))
    yield Evidence(
        onset=float(steps[onset]),
        last=float(steps[-1]),
        strength=1.0 if end <= tiny else 0.5,
        aspects=("from-start",) if throughout else ("later",),
        severity="medium" if gains else None,
        values={"norm": end, "what": f"has lost only {gone:.0%}" if gains else "has not come down"},
        points=(EvidencePoint("grad_norm", float(steps[-1]), end, level, "L2"),),
    )
