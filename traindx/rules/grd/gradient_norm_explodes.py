"""GRD002 gradient-norm-explodes."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="GRD002",
    needs=("grad_norm",),
    min_points=5,
    severity="high",
    message="the gradient norm rose to {factor:.0f} times its early level, and the loss did not recover",
    follows=("loss-not-finite", "loss-diverges", "gradient-not-finite"),
)
def gradient_norm_explodes(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        10.0, "x the early level", "convention", "an order above the level of the healthy stretch"
    ),
    alone: float = threshold(100.0, "x the early level", "convention", "100 x a healthy norm of 1"),
    early: float = threshold(0.2, "of the run", "convention", "taken as the healthy stretch"),
    rows: float = threshold(3, "rows in a row", "convention", "fewer is a spike"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "a visible rise"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "1 in 15,000 under normal noise"),
) -> Iterator[Evidence]:
    """The global gradient norm rises far above its early level, and the loss does not recover.

    ## What it sees
    At least three rows in a row with a norm 10 times the early level of the run. After them the objective
    must become NaN or infinite, or end clearly higher than before (by 10 %, by 4 times its noise, and by 2 %
    of what it had gained). Without an objective, the norm must reach 100 times its early level and stay there
    to the end.

    ## Why it matters
    A few steps of this size overwrite what was learned before.

    ## When it is wrong
    A norm that grows while the loss keeps falling is not reported, and neither are the returns of a
    reinforcement learner, which grow with its skill. Without an objective, a norm that is meant to grow
    looks the same.

    ## What to try
    Lower the learning rate, clip the gradient, extend the warm-up. Find the module whose gradient grew
    first.

    ## Sources
    Pascanu et al. (2013), On the difficulty of training recurrent neural networks, arXiv:1211.5063.
    """
    norm, objective = features.needed_curve("grad_norm"), features.objective
    # The returns of an agent grow as it learns, and the norms with them; its rewards rise and fall.
    judged = None if features.loss_is_no_score or features.is_reinforcement else objective
    steps, values = norm.steps[norm.values > 0], norm.values[norm.values > 0]
    if len(values) <= rows:
        return
    level = api.early_level(values, share=early)
    ended = not np.isfinite(norm.raw.values[-1])
    for start, stop in api.far_above(values, level, factor=factor, rows=int(rows), ended=ended):
        peak = start + int(np.argmax(values[start:stop]))
        times, at_end = float(values[peak]) / level, stop == len(values)
        lost = judged is not None and api.is_worse_after(
            judged, float(steps[start]), share=worse, score=score
        )
        if lost or (at_end and (ended or (objective is None and times >= alone))):
            yield Evidence(
                onset=float(steps[start]),
                last=float(steps[stop - 1]),
                strength=1.0 if times >= alone else 0.5,
                aspects=(
                    "early" if start <= early * len(values) else "late",
                    *("until-not-finite",) * (at_end and ended),
                ),
                values={"factor": times},
                points=(EvidencePoint("grad_norm", float(steps[peak]), float(values[peak]), level, "L2"),),
            )
            return
