"""OBJ004 rewards-fall-by-small-steps."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, median, rule, threshold

OTHERS = {
    "cross",
    "target",
    "coef",
    "coefficient",
    "alpha",
}  # with these, an entropy is not that of a policy

LEVELS = 500  # of a long curve: a running median over a tenth of it would take as long as the training


@rule(
    code="OBJ004",
    needs=("train/*",),
    min_points=9,
    severity="high",
    persistence="turning",
    message="{reward} fell from {first:.4g} to {last:.4g} and was never better, though {name} shows small updates "
    "({level:.3g})",
)
def rewards_fall_by_small_steps(
    run: Run,
    features: Features,
    *,
    part: float = threshold(0.1, "of the run", "convention", "the length of a mean"),
    least: float = threshold(9, "points", "convention", "three for each third"),
    clear: float = threshold(4.0, "x the noise", "theory", "p < 0.0001 for one comparison"),
    gained: float = threshold(0.25, "of the fall", "convention", "it did learn something before"),
    small: float = threshold(0.05, "nats", "measured", "updates of runs that learn: 0.002 to 0.03"),
    near: float = threshold(
        1.0, "nats per token", "measured", "from the reference: 0.01 to 0.3 in runs that learn"
    ),
    uncertain: float = threshold(0.2, "of the first entropy", "convention", "actions still vary"),
) -> Iterator[Evidence]:
    """The rewards of an agent fall, although each update is small.

    ## What it sees
    The rewards of the last third are clearly below the first ones and were hardly ever above them. The
    updates are small by one of three measures. The KL divergence of an update (`approx_kl`) has a median below
    0.05. Or the divergence from a reference (`kl`) has a median below 1 per token. Or the entropy is above 20 %
    of its first level.

    ## Why it matters
    A rate that is too high makes large updates. Small ones that lead down follow the wrong direction: a sign
    in the loss or in the advantage, or rewards that are assigned to the wrong actions.

    ## When it is wrong
    The task becomes harder during the run, as in a curriculum or against a growing opponent.

    ## What to try
    Check the sign of the policy loss on one batch: after a step, actions with a positive advantage must be
    more likely. Print rewards and `done` next to the actions that caused them.

    ## Sources
    OpenAI Spinning Up, policy gradient loss: https://spinningup.openai.com/en/latest/spinningup/rl_intro3.html.
    """
    reward = features.objective
    if not features.is_reinforcement or reward is None or reward.n < least or reward.sign > 0:
        raise CannotJudge("needs the rewards of an agent")
    size = update_size(run, features)
    if size is None:
        raise CannotJudge("needs a divergence or the entropy of the policy")
    kept = api.block_medians(reward.values, LEVELS) if reward.n > 2 * LEVELS else reward.values
    means = api.running_median(kept, max(3, int(part * len(kept))))
    first, last, best = float(means[0]), float(median(reward.values[-(reward.n // 3) :])), float(means.max())
    fall = first - last
    if fall <= clear * api.difference_noise(reward.values) or best - first > gained * fall:
        return
    curve, kind = size
    level = float(median(curve.values))
    calm = abs(level) < (small if kind == "update" else near)
    if kind == "entropy":
        calm = abs(level) > uncertain * abs(float(curve.values[0]))
    if calm:
        values = {"reward": reward.name, "first": first, "last": last, "name": curve.name, "level": level}
        yield Evidence(
            onset=reward.step_at(0),
            where=reward.name,
            aspects=(kind,),
            values=values,
            points=(api.EvidencePoint(reward.name, float(reward.steps[-1]), last, first),),
        )


def update_size(run: Run, features: Features) -> tuple[api.Curve, str] | None:
    """The signal that shows best how far the policy moves, and what it measures."""
    found = {}
    for name in run.series:
        words = api.words_of(name)
        if "approxkl" in name.lower().replace("_", ""):
            found["update"] = name
        elif words == {"kl"}:
            found["reference"] = name
        elif "entropy" in words and not words & OTHERS:
            found["entropy"] = name
    for kind in ("update", "reference", "entropy"):
        curve = features.curve(found.get(kind, ""))
        if curve is not None and curve.n:
            return curve, kind
    return None
