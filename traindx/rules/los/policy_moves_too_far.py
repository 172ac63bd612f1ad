"""LOS019 policy-moves-too-far."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="LOS019",
    needs=("train/*",),
    min_points=5,
    severity="medium",
    message="{name} has a median of {level:.3g}: each update moves the policy too far from the one "
    "that collected the data",
)
def policy_moves_too_far(
    run: Run,
    features: Features,
    *,
    least: float = threshold(5, "points", "convention", "fewer have no typical update"),
    far: float = threshold(
        0.1, "nats", "measured", "runs that learn: 0.002 to 0.03; early stopping at 0.015"
    ),
    beyond: float = threshold(1.0, "nats", "theory", "actions become e times as likely in one update"),
) -> Iterator[Evidence]:
    """Each update moves the policy too far from the one that collected the data.

    ## What it sees
    The approximate KL divergence between the policy before and after an update, as PPO and similar
    algorithms log it. Severity is medium if the median of the second half exceeds 0.1, and high above 1.

    ## Why it matters
    The collected data say little about a policy that acts differently. Rewards jump and may collapse.

    ## When it is wrong
    A divergence from a fixed reference model (preference tuning) is something else, and is not judged.

    ## What to try
    A tenth of the learning rate, fewer passes over the same data, a clip range of 0.1 to 0.2, or
    `target_kl`.

    ## Sources
    Schulman et al. (2017), Proximal policy optimization algorithms, arXiv:1707.06347. OpenAI Spinning Up,
    PPO (`target_kl`): https://spinningup.openai.com/en/latest/algorithms/ppo.html.
    """
    if not features.is_reinforcement:
        raise CannotJudge("needs the rewards of an agent")
    for name in (one for one in run.series if "approxkl" in one.lower().replace("_", "")):
        curve = features.curve(name)
        if curve is None or curve.n < least:
            continue
        level = float(api.median(np.abs(curve.values[curve.n // 2 :])))
        if level >= far:
            onset = int(np.argmax(np.abs(curve.values) >= far))
            yield Evidence(
                onset=curve.step_at(onset),
                where=name,
                severity="high" if level >= beyond else "medium",
                values={"name": name, "level": level},
                points=(
                    api.EvidencePoint(name, float(curve.steps[-1]), float(curve.values[-1]), far, "nats"),
                ),
            )
            return
