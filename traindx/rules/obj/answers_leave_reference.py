"""OBJ009 answers-leave-reference."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="OBJ009",
    needs=("train/kl",),
    min_points=9,
    severity="high",
    persistence="turning",
    message="{name} has risen to {level:.3g} nats, and {reward} fell from its best of {best:.4g} to {now:.4g} (medians "
    "of the last third)",
)
def answers_leave_reference(
    run: Run,
    features: Features,
    *,
    least: float = threshold(9, "points", "convention", "three for each third"),
    far: float = threshold(1.0, "nats per token", "measured", "runs that learn: 0.01 to 0.3"),
    lost: float = threshold(0.5, "of what was gained", "convention", "half of the progress is lost"),
    certain: float = threshold(
        0.25, "of the first entropy", "convention", "nearly one answer to each question"
    ),
) -> Iterator[Evidence]:
    """A language model leaves its reference, and its rewards are lost, or are earned with one answer.

    ## What it sees
    The KL divergence from the reference model (`kl`, per token) is above 1 in the last third of the run, and
    the rewards there have lost half of what they had gained, or never gained. Or the entropy there is below a
    quarter of its first level (medium).

    ## Why it matters
    The model no longer writes language that its start knew, and does not come back.

    ## When it is wrong
    The divergence may be a sum over whole answers of hundreds of tokens.

    ## What to try
    A tenth of the learning rate, a weight of 0.04 for the divergence (`beta`), and the checkpoint from before
    the divergence rose.

    ## Sources
    Gao et al. (2022), Scaling laws for reward model overoptimization, arXiv:2210.10760. TRL, GRPOTrainer:
    https://huggingface.co/docs/trl/grpo_trainer.
    """
    curve, reward = features.needed_curve("train/kl"), features.objective
    if not features.is_reinforcement or reward is None or reward.sign > 0 or min(curve.n, reward.n) < least:
        raise api.CannotJudge("needs rewards and the divergence from a reference")
    level, means = float(median(curve.values[-(curve.n // 3) :])), api.running_median(reward.values, 3)
    best, now = float(means.max()), float(median(reward.values[-(reward.n // 3) :]))
    fell = best - now >= lost * (best - float(means[0]))
    words = "" if fell else words_of_one_answer(features, least, certain)
    if level > far and (fell or words):
        yield Evidence(
            onset=curve.step_at(int(np.argmax(curve.values > far))),
            where=curve.name,
            severity=None if fell else "medium",
            message=None
            if fell
            else f"{curve.name} has risen to {level:.3g} nats, and {words}: read the answers, "
            f"{reward.name} may rise without the task",
            values={"name": curve.name, "level": level, "reward": reward.name, "best": best, "now": now},
            points=(
                api.EvidencePoint(curve.name, float(curve.steps[-1]), float(curve.values[-1]), far, "nats"),
            ),
        )


def words_of_one_answer(features: Features, least: float, certain: float) -> str:
    """What is said of an entropy that fell to the share `certain` of its first level, "" for none."""
    entropy = features.curve("train/entropy")
    if entropy is None or entropy.n < least:
        return ""
    first, late = abs(float(entropy.values[0])), abs(float(median(entropy.values[-(entropy.n // 3) :])))
    fell = f"{entropy.name} fell from {first:.3g} to {late:.3g} (medians of the last third)"
    return fell if late <= certain * first else ""
