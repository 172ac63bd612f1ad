"""OBJ005 rewards-do-not-differ."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="OBJ005",
    needs=("train/*",),
    min_points=5,
    severity="high",
    persistence="steady",
    message="{reward} is {level:.4g} in all {count:.0f} points, and {name} is zero: all answers get the same reward",
)
def rewards_do_not_differ(
    run: Run,
    features: Features,
    *,
    least: float = threshold(5, "points", "convention", "a hard batch or two may give no reward"),
) -> Iterator[Evidence]:
    """Every answer of a policy gets the same reward, so that nothing can be learned from them.

    ## What it sees
    The mean reward never changes, and the standard deviation of the rewards (`reward_std`) is always zero.

    ## Why it matters
    A policy learns from the differences between rewards. With equal ones, every advantage is zero.

    ## When it is wrong
    The task is so hard that no answer was ever right. Then an easier task or a partial reward is needed.

    ## What to try
    Call the reward function on a right and on a wrong answer, written by hand in the format that the model
    generates. Look at the parser, at special tokens, and at exceptions that become a reward of zero.

    ## Sources
    TRL, logged metrics of GRPOTrainer (`frac_reward_zero_std`):
    https://huggingface.co/docs/trl/grpo_trainer. Shao et al. (2024), DeepSeekMath, arXiv:2402.03300.
    """
    spread, reward = features.curve_with("reward_std"), features.objective
    if spread is None or reward is None or min(spread.n, reward.n) < least:
        raise CannotJudge("needs the mean and the standard deviation of rewards")
    if not np.any(spread.values) and np.ptp(reward.values) == 0:
        level = float(reward.values[-1])
        yield Evidence(
            onset=reward.step_at(0),
            where=reward.name,
            values={"reward": reward.name, "level": level, "count": float(reward.n), "name": spread.name},
            points=(api.EvidencePoint(reward.name, float(reward.steps[-1]), level, None),),
        )
