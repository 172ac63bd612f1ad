"""LOS019 policy-moves-too-far."""

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


@rule(
    code="LOS019",
    needs=("train/*",),
    min_points=5,
    severity="medium",
    message="{name} is {level:.3g} in the typical update: the policy changes beyond what its data can tell",
)
def policy_moves_too_far(
    run: Run,
    features: Features,
    *,
    least: float = threshold(5, "points", "convention", "a typical update of fewer is none"),
    far: float = threshold(
        0.1, "nats", "measured", "runs that learn: 0.002 to 0.03; early stopping begins at 0.015"
    ),
    beyond: float = threshold(
        1.0, "nats", "theory", "actions become e times likelier or rarer within one update"
    ),
) -> Iterator[Evidence]:
    """Each update of the policy takes it far from the policy that collected the data.

    ## What it sees
    The approximate KL divergence between the policies before and after an update, which PPO and its
    relatives log. Medium where the median of the second half is above 0.1, high above 1.

    ## Why it matters
    What was collected says little about a policy that acts otherwise: rewards jump, and collapse.

    ## When it is wrong
    Divergences from a fixed reference model (of preference tuning) are not meant and not looked at.

    ## What to try
    A tenth of the learning rate, fewer passes over the same data, a clip range of 0.1 to 0.2, target_kl.

    ## Sources
    Schulman et al., arXiv:1707.06347; OpenAI Spinning Up, PPO (target_kl).
    """
    if not features.is_reinforcement:
        raise CannotJudge("needs rewards: no agent is trained")
    for name in (one for one in run.series if "approxkl" in one.lower().replace("_", "")):
        curve = features.curve(name)
        if curve is None or curve.n < least:
            continue
        level = float(median(np.abs(curve.values[curve.n // 2 :])))
        if level >= far:
            onset = int(np.argmax(np.abs(curve.values) >= far))
            yield Evidence(
                onset=curve.step_at(onset),
                where=name,
                severity="high" if level >= beyond else "medium",
                values={"name": name, "level": level},
                points=(EvidencePoint(name, float(curve.steps[-1]), float(curve.values[-1]), far, "nats"),),
            )
            return
