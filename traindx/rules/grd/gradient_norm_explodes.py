"""GRD002 gradient-norm-explodes."""

from traindx.features.curves.gradient_norms import early_level, far_above, worsened_after
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="GRD002",
    needs=("grad_norm",),
    min_points=5,
    severity="high",
    message="the gradient norm rose to {factor:.0f} times its early level, and the loss did not come back",
    follows=("loss-not-finite", "loss-diverges", "gradient-not-finite"),
)
def gradient_norm_explodes(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        10.0, "x the early level", "convention", "one order above the level this run was healthy at"
    ),
    alone: float = threshold(
        100.0, "x the early level", "seed", "requirements: 100 against a healthy 0.1-10; made relative"
    ),
    early: float = threshold(0.2, "of the run", "convention", "the stretch that stands for healthy"),
    rows: float = threshold(3, "rows in a row", "convention", "fewer is a spike"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "a rise that cannot be overlooked"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "1 in 15,000 under normal noise"),
) -> Iterator[Evidence]:
    """The global gradient norm rises far above its early level and the objective is lost with it.

    ## What it sees
    At least three rows in a row with a norm ten times the run's own early level, after which the objective
    ends not finite or clearly higher than before; without any objective, a hundred times.

    ## Why it matters
    Steps of that size throw the weights out of the region where the net had learnt; it seldom comes back by
    itself.

    ## When it is wrong
    Losses that are sums have norms of hundreds all the time, which is why the run is compared with itself; a
    run whose loss falls while its norm grows is left to gradient-norm-grows. Where the loss is no score
    (agents, nets against each other), only a norm that ends not finite counts.

    ## What to try
    Look at the learning rate and the batch at the onset; see which module grew first.

    ## Sources
    Pascanu, Mikolov, Bengio (2013), On the difficulty of training recurrent neural networks.
    """
    norm, objective = features.needed_curve("grad_norm"), features.objective
    judged = (
        None if features.loss_is_no_score else objective
    )  # returns grow as an agent learns, and norms with them
    steps, values = norm.steps[norm.values > 0], norm.values[norm.values > 0]
    if len(values) <= rows:
        return
    level = early_level(values, share=early)
    ended = not np.isfinite(norm.raw.values[-1])
    for start, stop in far_above(values, level, factor=factor, rows=int(rows), ended=ended):
        peak = start + int(np.argmax(values[start:stop]))
        times, at_end = float(values[peak]) / level, stop == len(values)
        lost = judged is not None and worsened_after(judged, float(steps[start]), share=worse, score=score)
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
