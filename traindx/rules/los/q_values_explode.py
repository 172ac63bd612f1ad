"""LOS021 q-values-explode."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold

NAMES = {"q", "q1", "q2", "qf", "qf1", "qf2", "qvalue", "qvalues", "qval", "qs"}
EPISODE = ("return", "episode", "episodic", "ep_rew")  # in names of rewards that are summed over an episode


@rule(
    code="LOS021",
    needs=("train/*",),
    min_points=6,
    severity="medium",
    message="{name} has grown from {first:.3g} to {last:.3g} (medians), but {reward} was never beyond {most:.3g}",
)
def q_values_explode(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "each third then has two points"),
    beyond: float = threshold(
        10.0, "x the largest reward", "theory", "a discounted sum is smaller than the sum of an episode"
    ),
    steps: float = threshold(
        100.0, "steps", "theory", "what a discount of 0.99 adds up, for rewards per step"
    ),
    grown: float = threshold(10.0, "x the first level", "convention", "more than a change of the scale"),
    squared: float = threshold(
        1e6,
        "x the first loss, or 1",
        "theory",
        "the square of what 1,000 steps with a discount of 0.999 add up",
    ),
) -> Iterator[Evidence]:
    """The critic expects far more than any reward that was seen.

    ## What it sees
    The Q values of the last third of the run are at least ten times those of the first third, and at least
    ten times the largest reward of an episode. If the logged reward is per step, the limit is 100 times
    higher. Severity is high if the values are beyond 100 times the limit. Even without logged rewards, a loss
    a million times as large as at first is reported: the squared error of any return is smaller.

    ## Why it matters
    The critic learns from its own estimates. Once they grow by themselves, the policy follows errors.

    ## When it is wrong
    The logged rewards are scaled, but those that the critic learns from are not.

    ## What to try
    A target network that follows slowly, the smaller of two critics (double Q-learning), a lower learning
    rate of the critic, or clipped rewards.

    ## Sources
    van Hasselt et al. (2018), Deep reinforcement learning and the deadly triad, arXiv:1812.02648. Fujimoto et
    al. (2018), Addressing function approximation error in actor-critic methods (TD3), arXiv:1802.09477.
    """
    loss = tuple(exploded_loss(features, least, squared, grown))
    yield from loss or exploded_values(run, features, least, beyond, steps, grown)


def exploded_values(
    run: Run, features: Features, least: float, beyond: float, steps: float, grown: float
) -> Iterator[Evidence]:
    """The Q values of an agent that are beyond its rewards."""
    reward = features.objective
    if not features.is_reinforcement or reward is None or not reward.n or reward.name == "train/loss":
        raise api.CannotJudge("needs the rewards of an agent")
    most = float(np.abs(reward.values).max())
    limit = most * beyond * (1.0 if of_episodes(run, reward.name) else steps)
    for name in run.series:
        curve, words = features.curve(name), api.words_of(name)
        if not words & NAMES or "loss" in words or curve is None or curve.n < least:
            continue
        size = np.abs(curve.values)
        first, last = float(median(size[: curve.n // 3])), float(median(size[-(curve.n // 3) :]))
        if last > limit > 0 and last > grown * first:
            yield Evidence(
                onset=curve.step_at(int(np.argmax(size > limit))),
                where=name,
                severity="high" if last > beyond**2 * limit else "medium",
                values={"name": name, "first": first, "last": last, "reward": reward.name, "most": most},
                points=(api.EvidencePoint(name, float(curve.steps[-1]), float(curve.values[-1]), limit),),
            )
            return


def of_episodes(run: Run, name: str) -> bool:
    """Whether the rewards called so are summed over an episode."""
    logged = run.originals.get(name, "") + name
    return any(word in logged.lower() for word in EPISODE)


def exploded_loss(features: Features, least: float, squared: float, grown: float) -> Iterator[Evidence]:
    """The loss of an agent that ends beyond what a return can be wrong by."""
    loss = features.curve("train/loss")
    if not features.is_reinforcement or loss is None or loss.n < least:
        return
    first, last = float(median(loss.values[:3])), float(median(loss.values[-(loss.n // 3) :]))
    if last > squared * max(first, 1.0):
        yield Evidence(
            where="train/loss",
            severity="high",
            onset=loss.step_at(int(np.argmax(loss.values > last / grown))),
            message=f"train/loss has grown from {first:.3g} to {last:.3g} (medians), which no error of a return reaches",
            points=(
                api.EvidencePoint("train/loss", float(loss.steps[-1]), float(loss.values[-1]), squared),
            ),
        )
