"""OBJ006 divergence-outweighs-rewards."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="OBJ006",
    needs=("train/loss",),
    min_points=8,
    severity="medium",
    persistence="steady",
    message="{name} counts {weight:.3g} times in the loss, and {reward} {change}",
)
def divergence_outweighs_rewards(
    run: Run,
    features: Features,
    *,
    least: float = threshold(8, "points", "convention", "enough for a mean reward at both ends"),
    heavy: float = threshold(1.0, "x the divergence", "measured", "weights in use: 0 to 0.2"),
    alike: float = threshold(0.1, "of the weight", "convention", "then the loss is this term alone"),
    clear: float = threshold(3.0, "x the noise of a mean", "theory", "p < 0.003"),
    stiff: float = threshold(2.0, "x the difference", "convention", "weights in use: 0.01 to 0.5"),
    little: float = threshold(2.0, "nats", "convention", "an answer becomes less than e^2 times as likely"),
) -> Iterator[Evidence]:
    """The divergence from the reference model counts so much that the rewards cannot rise.

    ## What it sees
    A log of answers and rewards whose loss is a fixed multiple (above 1) of the divergence (`kl`), as GRPO
    logs it. The last third of the rewards is not clearly above the first.

    Or a log of preferences whose margin of the rewards rose by a multiple (above 2) of what the difference of
    the log-probabilities (`logps/chosen`, `logps/rejected`) rose by, which is the weight (`beta`). This
    difference rose by less than 2 nats.

    ## Why it matters
    The model stays at its start, because leaving it costs more than any reward brings.

    ## When it is wrong
    The rewards were as high as possible from the start.

    ## What to try
    A weight (`beta`) of 0.04 or less, or rewards of a larger scale. For preferences, 0.1 to 0.5.

    ## Sources
    Shao et al. (2024), DeepSeekMath, arXiv:2402.03300. TRL, GRPOTrainer (`beta`):
    https://huggingface.co/docs/trl/grpo_trainer. Rafailov et al. (2023), Direct preference optimization,
    arXiv:2305.18290 (`beta`: 0.1 to 0.5).
    """
    if "train/kl" not in run.series:
        yield from preference_evidence(features, least, stiff, little)
        return
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
    weight, third = float(api.median(weights)), reward.n // 3
    constant = float(api.median(np.abs(weights - weight))) <= alike * weight
    gain = float(np.mean(reward.as_loss[:third]) - np.mean(reward.as_loss[-third:]))
    error = api.difference_noise(reward.values) * (2 / third) ** 0.5
    if constant and weight > heavy and gain < clear * error:
        yield Evidence(
            onset=reward.step_at(0),
            where=kl.name,
            values={"name": kl.name, "weight": weight, "reward": reward.name, "change": "has not improved"},
            points=(api.EvidencePoint(kl.name, float(kl.steps[-1]), float(kl.values[-1]), weight),),
        )


def preference_evidence(features: Features, least: float, stiff: float, little: float) -> Iterator[Evidence]:
    """A weight of preference tuning that hardly lets the model change."""
    words = (("rewards", "margin"), ("logps", "chosen"), ("logps", "rejected"))
    margin, chosen, rejected = (features.curve_with(*pair) for pair in words)
    if margin is None or chosen is None or rejected is None or margin.n < least:
        raise CannotJudge("needs rewards and a divergence, or the log-probabilities of both answers")
    known = min(margin.n, chosen.n, rejected.n)
    gap, third = chosen.values[:known] - rejected.values[:known], known // 3
    gain, moved = (float(np.mean(v[-third:]) - np.mean(v[:third])) for v in (margin.values, gap))
    if abs(moved) < little and gain > stiff * (abs(moved) + api.difference_noise(gap)):
        change = f"rose by {gain:.3g} while the answers differ by only {moved:.2g} nats more"
        yield Evidence(
            onset=margin.step_at(0),
            where=margin.name,
            values={"name": "the divergence", "weight": gain / (abs(moved) or 1.0), "reward": margin.name,
                    "change": change},
            points=(api.EvidencePoint(margin.name, float(margin.steps[-1]), gain, moved),),
        )  # fmt: skip
