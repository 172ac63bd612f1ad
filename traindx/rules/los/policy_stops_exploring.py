"""LOS020 policy-stops-exploring."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold

# A name with one of these words is not the entropy of a policy.
OTHERS = {"cross", "target", "coef", "coefficient", "alpha"}


@rule(
    code="LOS020",
    needs=("train/*",),
    min_points=6,
    severity="high",
    message="{name} went from {first:.3g} to {last:.3g}, and {reward} from its best of {best:.4g} "
    "to {now:.4g} (medians)",
)
def policy_stops_exploring(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "each third then has two points"),
    gone: float = threshold(0.05, "of the first level", "convention", "almost always the same action"),
    lost: float = threshold(0.5, "of what was gained", "convention", "half of the progress is lost"),
) -> Iterator[Evidence]:
    """The policy always takes the same actions, and the rewards have fallen.

    ## What it sees
    The entropy of the policy (with either sign) stays below 5 % of its first level in the last third of the
    run. The rewards there have lost half of what they had gained, or never gained.

    ## Why it matters
    An agent that tries nothing else cannot find its way back.

    ## When it is wrong
    A policy that has solved its task is certain too, but its rewards stay at their best.

    ## What to try
    A lower learning rate, a larger entropy bonus, or a smaller clip range (PPO). Restart the run, because a
    collapsed policy does not recover.

    ## Sources
    Mnih et al. (2016), Asynchronous methods for deep reinforcement learning (entropy bonus),
    arXiv:1602.01783. Ahmed et al. (2019), Understanding the impact of entropy on policy optimization,
    arXiv:1811.11214.
    """
    reward = features.objective
    if not features.is_reinforcement or reward is None or reward.n < least or reward.sign > 0:
        raise CannotJudge("needs the rewards of an agent")
    level = api.running_median(reward.values, 3)
    best, now = float(level.max()), float(api.median(reward.values[-(reward.n // 3) :]))
    if best - now < lost * (best - float(level[0])):
        return
    for name in run.series:
        curve = features.curve(name)
        words = api.words_of(name)
        if "entropy" not in words or words & OTHERS or curve is None or curve.n < least:
            continue
        size = np.abs(curve.values)
        if size[0] > 0 and float(size[-(curve.n // 3) :].max()) <= gone * size[0]:
            values = {
                "first": float(curve.values[0]),
                "last": float(curve.values[-1]),
                "best": best,
                "now": now,
            }
            yield Evidence(
                onset=curve.step_at(int(np.argmax(size <= gone * size[0]))),
                where=name,
                values={"name": name, "reward": reward.name, **values},
                points=(api.EvidencePoint(name, float(curve.steps[-1]), values["last"], values["first"]),),
            )
            return
