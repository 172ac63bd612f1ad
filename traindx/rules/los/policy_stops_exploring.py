"""LOS020 policy-stops-exploring."""

from traindx.features.curves.score_scales import words_of
from traindx.features.statistics.smoothing import running_median
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

OTHERS = ("cross", "target", "coef", "coefficient", "alpha")  # words of what is no policy's entropy


@rule(
    code="LOS020",
    needs=("train/*",),
    min_points=6,
    severity="high",
    message="{name} goes from {first:.3g} to {last:.3g}, and {reward} from its best of {best:.4g} to {now:.4g}",
)
def policy_stops_exploring(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "two thirds of them are levels of two"),
    gone: float = threshold(0.05, "of the first level", "convention", "one action in almost every state"),
    lost: float = threshold(0.5, "of what was gained", "convention", "most of what was learned is gone"),
) -> Iterator[Evidence]:
    """The policy always takes the same actions, and they are poor.

    ## What it sees
    The entropy of a policy (with either sign) stays below a twentieth of its first level in the last third
    of the run, and the rewards there have lost half of what they had gained, or had gained nothing.

    ## Why it matters
    An agent that no longer tries anything else cannot find its way back.

    ## When it is wrong
    A policy that has solved its task is certain too; its rewards stay at their best.

    ## What to try
    A lower learning rate; a larger entropy bonus; for policies of PPO a smaller clip range; start anew, as a
    collapsed policy does not recover.

    ## Sources
    Mnih et al., arXiv:1602.01783 (entropy bonus); Ahmed et al., arXiv:1811.11214.
    """
    reward = features.objective
    if not features.is_reinforcement or reward is None or reward.n < least or reward.sign > 0:
        raise CannotJudge("needs the rewards of an agent")
    level = running_median(reward.values, 3)
    best, now = float(level.max()), float(median(reward.values[-(reward.n // 3) :]))
    if best - now < lost * (best - float(level[0])):
        return
    for name in run.series:
        curve = features.curve(name)
        words = words_of(name)
        if "entropy" not in words or words & set(OTHERS) or curve is None or curve.n < least:
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
                points=(EvidencePoint(name, float(curve.steps[-1]), values["last"], values["first"]),),
            )
            return
