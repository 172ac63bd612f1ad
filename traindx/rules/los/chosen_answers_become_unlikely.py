"""LOS023 chosen-answers-become-unlikely."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, median, rule, threshold


@rule(
    code="LOS023",
    needs=("train/*",),
    min_points=6,
    severity="low",
    message="{name} fell from {first:.4g} to {last:.4g} (medians), though {margin} rose from {before:.3g} to {now:.3g}",
)
def chosen_answers_become_unlikely(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "each third then has two points"),
    lost: float = threshold(
        0.25, "of the first level", "convention", "more than answers of other lengths explain"
    ),
    most: float = threshold(1.0, "of the first level", "convention", "each token takes twice as many nats"),
    ruin: float = threshold(
        3.0, "of the first level", "convention", "each token takes four times as many nats"
    ),
    nats: float = threshold(
        0.5, "nats", "measured", "a confident model that is tuned well loses 0.1 to 0.3"
    ),
) -> Iterator[Evidence]:
    """Preference tuning makes the preferred answers unlikely, while their margin grows.

    ## What it sees
    The log-probability of the chosen answers (`logps/chosen`) fell by a quarter or more, and by at least 0.5
    nats, while the margin of the rewards rose. The last third of the run is compared with the first third or
    the first three points, whichever is higher. Severity is medium if it doubled, and high if it is four
    times its first level.

    ## Why it matters
    Margin and accuracy look good because the rejected answers fall faster. The model moves its probability
    to answers that nobody has judged, and may generate worse text.

    ## When it is wrong
    Some decline is usual in direct preference optimization, so look at generated text.

    ## What to try
    Train on the chosen answers first, add their negative log-likelihood to the loss (`rpo_alpha` in TRL),
    raise `beta`, lower the learning rate, or stop earlier.

    ## Sources
    Pal et al. (2024), Smaug: fixing failure modes of preference optimisation with DPO-Positive,
    arXiv:2402.13228. Razin et al. (2024), Unintentional unalignment: likelihood displacement in direct
    preference optimization, arXiv:2410.08847.
    """
    chosen, margin = (features.curve_with(*words) for words in (("logps", "chosen"), ("rewards", "margins")))
    if chosen is None or margin is None or min(chosen.n, margin.n) < least:
        raise CannotJudge("needs the log-probability of chosen answers and the margin of the rewards")
    third = chosen.n // 3
    first = max(float(median(chosen.values[:third])), float(median(chosen.values[:3])))
    held = features.curve_with("logps", "chosen", split="val/")
    for curve in (chosen,) if held in (None, chosen) else (chosen, held):
        last = float(median(curve.values[-max(1, curve.n // 3) :]))
        fallen = (first - last) / abs(first) if first else 0.0
        if fallen >= lost and first - last >= nats and margin.values[-1] > margin.values[0]:
            yield Evidence(
                onset=None,
                where=curve.name,
                severity="high" if fallen >= ruin else "medium" if fallen >= most else "low",
                values={"name": curve.name, "first": first, "last": last, "margin": margin.name,
                        "before": float(margin.values[0]), "now": float(margin.values[-1])},
                points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), last, first),),
            )  # fmt: skip
