"""OBJ006 divergence-outweighs-rewards."""

from traindx.rules import api
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, median, np, rule, threshold


@rule(
    code="OBJ006",
    needs=("train/loss", "train/kl"),
    min_points=8,
    severity="medium",
    persistence="steady",
    message="{name} counts {weight:.3g} times in the loss, and {reward} has not improved",
)
def divergence_outweighs_rewards(
    run: Run,
    features: Features,
    *,
    least: float = threshold(8, "points", "convention", "enough for a mean reward at both ends"),
    heavy: float = threshold(1.0, "x the divergence", "measured", "weights in use: 0 to 0.2"),
    alike: float = threshold(0.1, "of the weight", "convention", "then the loss is this term alone"),
    clear: float = threshold(3.0, "x the noise of a mean", "theory", "p < 0.003"),
) -> Iterator[Evidence]:
    """The divergence from the reference model counts so much that the rewards cannot rise.

    ## What it sees
    A log of answers and rewards whose loss is a fixed multiple (above 1) of the divergence (`kl`), as GRPO
    logs it. The last third of the rewards is not clearly above the first.

    ## Why it matters
    The model stays at its start, because leaving it costs more than any reward brings.

    ## When it is wrong
    The rewards were as high as possible from the start.

    ## What to try
    A weight (`beta`) of 0.04 or less, or rewards of a larger scale.

    ## Sources
    Shao et al. (2024), DeepSeekMath, arXiv:2402.03300. TRL, GRPOTrainer (`beta`):
    https://huggingface.co/docs/trl/grpo_trainer.
    """
    loss, kl = features.needed_curve("train/loss"), features.needed_curve("train/kl")
    reward = features.objective
    if (
        not features.is_reinforcement
        or reward is None
        or min(loss.n, kl.n, reward.n) < least
        or loss.n != kl.n
    ):
        raise CannotJudge("needs rewards, a loss and a divergence")
    moved = kl.values > 0
    if moved.sum() < least:
        return
    weights = loss.values[moved] / kl.values[moved]
    weight, third = float(median(weights)), reward.n // 3
    constant = float(median(np.abs(weights - weight))) <= alike * weight
    gain = float(np.mean(reward.oriented[:third]) - np.mean(reward.oriented[-third:]))
    if (
        constant
        and weight > heavy
        and gain < clear * api.difference_noise(reward.values) * (2 / third) ** 0.5
    ):
        yield Evidence(
            onset=reward.step_at(0),
            where=kl.name,
            values={"name": kl.name, "weight": weight, "reward": reward.name},
            points=(api.EvidencePoint(kl.name, float(kl.steps[-1]), float(kl.values[-1]), weight),),
        )
