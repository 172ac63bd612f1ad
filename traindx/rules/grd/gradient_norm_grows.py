"""GRD003 gradient-norm-grows."""

from traindx.features.curves.gradient_norms import usual_level, worsened_after
from traindx.features.performance.level_shifts import growth, start_up
from traindx.rules.api import (
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    np,
    rule,
    slope,
    threshold,
)


@rule(
    code="GRD003",
    needs=("grad_norm",),
    min_points=30,
    severity="low",
    message="the gradient norm has grown steadily, to {ratio:.1f} times its early level",
    follows=("loss-not-finite", "loss-diverges", "gradient-not-finite"),
)
def gradient_norm_grows(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(2.0, "x the early level", "convention", "a doubling"),
    explodes: float = threshold(10.0, "x the early level", "convention", "gradient-norm-explodes"),
    steady: float = threshold(0.85, "rank correlation", "convention", "of block medians with time"),
    significant: float = threshold(5.0, "x standard error", "convention", "slope of the logarithm"),
    early: float = threshold(0.2, "of the run", "convention", "the stretch that stands for healthy"),
    warm: float = threshold(0.1, "of the run", "convention", "warm-up, whose norms are left out"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "as gradient-norm-explodes"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "as gradient-norm-explodes"),
) -> Iterator[Evidence]:
    """The global gradient norm grows over most of the run, without exploding.

    ## What it sees
    After the warm-up the norm, in block medians, rises with time nearly without setback and at least
    doubles. Low where the objective stands still, medium where it got worse, information where it improves
    all the same.

    ## Why it matters
    With a loss that does not improve, it can be the first sign of a divergence, or of gradients that pile
    up.

    ## When it is wrong
    Language models grow their gradient norm slowly for weeks while the loss falls, and so does any net with
    weight decay off; therefore a falling loss makes it a mere remark.

    ## What to try
    Watch it together with the loss and the weight norm.

    ## Sources
    Merrill et al. (2021), Effects of parameter norm growth during transformer training.
    """
    norm, objective = features.needed_curve("grad_norm"), features.objective
    skip = start_up(norm.n, warm, 1)
    steps, values = norm.steps[skip:][norm.values[skip:] > 0], norm.values[skip:][norm.values[skip:] > 0]
    if len(values) < max(norm.n // 2, 3):
        return
    level = usual_level(values, share=early)
    seen = growth(values)
    times = seen.last / level
    if times < ratio or seen.correlation < steady or slope(np.log(values)).z < significant:
        return
    lost = objective is not None and worsened_after(objective, float(steps[0]), share=worse, score=score)
    if lost and times >= explodes:
        return
    better = objective is not None and objective.start - objective.end > score * objective.noise
    outcome: tuple[Severity, str] = (
        ("medium", "worse") if lost else ("info", "better") if better else ("low", "level")
    )
    yield Evidence(
        onset=float(steps[0]),
        last=float(steps[-1]),
        strength=1 / 4 if better else 1.0,
        severity=outcome[0],
        aspects=(f"loss-{outcome[1]}",),
        values={"ratio": times},
        points=(EvidencePoint("grad_norm", float(steps[-1]), seen.last, level, "L2"),),
    )
