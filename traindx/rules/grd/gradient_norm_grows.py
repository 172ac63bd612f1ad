"""GRD003 gradient-norm-grows."""

from traindx.rules.api import Evidence, Features, Iterator, Run, Severity, api, np, rule, threshold


@rule(
    code="GRD003",
    needs=("grad_norm",),
    min_points=30,
    severity="low",
    persistence="turning",
    message="the gradient norm grew steadily to {ratio:.1f} times its early level",
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
    early: float = threshold(0.2, "of the run", "convention", "taken as the healthy stretch"),
    warm: float = threshold(0.1, "of the run", "convention", "the warm-up is left out"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "as in gradient-norm-explodes"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "as in gradient-norm-explodes"),
) -> Iterator[Evidence]:
    """The global gradient norm grows over most of the run without exploding.

    ## What it sees
    After the first tenth of the run the norm rises almost without interruption (rank correlation of its
    block medians with time at least 0.85) and at least doubles. Severity is low if the objective stays
    level, medium if it gets worse, and info if it improves.

    ## Why it matters
    If the loss does not improve, a growing norm can be the first sign of a divergence, or of gradients that
    accumulate across steps.

    ## When it is wrong
    The gradient norm of language models grows slowly for weeks while the loss falls, and so does that of any
    network without weight decay. That is why a falling loss makes it a note.

    ## What to try
    Watch it together with the loss and the weight norm.

    ## Sources
    Merrill et al. (2021), Effects of parameter norm growth during transformer training, arXiv:2010.09697.
    """
    norm, objective = features.needed_curve("grad_norm"), features.objective
    skip = api.start_up(norm.n, warm)
    steps, values = norm.steps[skip:][norm.values[skip:] > 0], norm.values[skip:][norm.values[skip:] > 0]
    if len(values) < max(norm.n // 2, 3):
        return
    level = api.usual_level(values, share=early)
    seen = api.growth(values)
    times = seen.last / level
    if times < ratio or seen.correlation < steady or api.slope(np.log(values)).z < significant:
        return
    lost = objective is not None and api.is_worse_after(objective, float(steps[0]), share=worse, score=score)
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
        points=(api.EvidencePoint("grad_norm", float(steps[-1]), seen.last, level, "L2"),),
    )
