"""OBJ001 loss-terms-unbalanced."""

from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, median, np, rule, threshold

TOTALS = ("total_loss", "train/loss")
POLICIES = ("policy_loss", "policy_gradient_loss", "pg_loss")
VALUES = ("value_loss", "vf_loss", "v_loss")
ENTROPIES = ("entropy", "entropy_loss")


@rule(
    code="OBJ001",
    needs=("train/*",),
    min_points=8,
    severity="medium",
    persistence="steady",
    message="{total} contains {value} with a weight of {weight:.3g}",
)
def loss_terms_unbalanced(
    run: Run,
    features: Features,
    *,
    least: float = threshold(8, "points", "convention", "enough for a fit of two weights"),
    heavy: float = threshold(5.0, "x the value loss", "measured", "weights in use: 0.25 to 1"),
    mostly: float = threshold(0.25, "of the points", "convention", "may be lower, by noise"),
    exact: float = threshold(0.01, "of the spread", "theory", "otherwise the log shows other samples"),
    sure: float = threshold(6.0, "standard errors", "theory", "by chance once in a billion"),
    wrong: float = threshold(1e-3, "weight", "convention", "less changes nothing"),
    drowned: float = threshold(3.0, "x the policy loss", "convention", "most of the gradient"),
    left: float = threshold(0.02, "of the first entropy", "convention", "too little to find its weight"),
    random: float = threshold(0.9, "of the first entropy", "convention", "still acts at random"),
) -> Iterator[Evidence]:
    """One term of an agent's loss outweighs the others, or has the wrong sign.

    ## What it sees
    A log with the total loss of an agent and its terms. The total minus the policy loss, divided by the value
    loss, gives the weight of the value loss. A weight above 5 is reported. If the two terms add up to the
    total to within 1 %, the rule also computes the weight of the entropy. It is reported if a higher entropy
    raises the loss. It is also reported if it is three times the policy loss, and the entropy is still 90 %
    of its first level.

    ## Why it matters
    The optimizer follows the largest term. The policy then learns little. An entropy with the wrong sign
    makes it certain before it has tried enough actions.

    ## When it is wrong
    Policy and critic may be separate networks whose gradient norms are clipped separately.

    ## What to try
    A weight of 0.5 for the value loss and of 0.01 for the entropy bonus. Scale rewards so that returns are
    about 1 to 10.

    ## Sources
    Schulman et al. (2017), Proximal policy optimization algorithms, arXiv:1707.06347. Andrychowicz et al.
    (2021), What matters in on-policy reinforcement learning?, arXiv:2006.05990.
    """
    total, policy, value, entropy = (
        curve_ending_in(run, features, *names) for names in (TOTALS, POLICIES, VALUES, ENTROPIES)
    )
    if total is None or policy is None or value is None or min(total.n, policy.n, value.n) < least:
        raise api.CannotJudge("needs the loss of an agent and its terms")
    if not (total.n == policy.n == value.n):
        raise api.CannotJudge("the loss and its terms were logged at different steps")
    rest, known = total.values - policy.values, value.values > 0
    weights = rest[known] / value.values[known]
    if len(weights) >= least and float(np.quantile(weights, mostly)) > heavy:
        yield evidence(total, value, float(median(weights)), "value")
    if entropy is None or entropy.n != total.n:
        return
    share, error = last_weight(rest, np.stack([value.values, entropy.values], axis=1), exact)
    level, start = float(median(np.abs(entropy.values))), abs(float(entropy.values[0]))
    if abs(share) <= sure * error or level < left * start:
        return
    if share * float(np.sign(median(entropy.values))) > wrong:  # a certain policy has the lower loss
        yield evidence(total, entropy, share, "sign")
    elif level > random * start and abs(share) * level > drowned * float(median(np.abs(policy.values))):
        yield evidence(total, entropy, share, "entropy")


def last_weight(total: api.Floats, terms: api.Floats, exact: float) -> tuple[float, float]:
    """The weight of the last of `terms[n, k]` in their sum `total[n]`, and its standard error; infinite where the
    residual is more than `exact` of the spread."""
    weights = np.linalg.lstsq(terms, total, rcond=None)[0]
    left = float(np.std(total - terms @ weights))
    if left > exact * float(np.std(total)):
        return float(weights[-1]), float("inf")
    inverse = np.linalg.pinv(terms.T @ terms)
    return float(weights[-1]), left * float(inverse[-1, -1]) ** 0.5


def curve_ending_in(run: Run, features: Features, *names: str) -> Curve | None:
    """The first curve whose name ends in one of these."""
    known = [name for name in run.series if not name.startswith("val/")]
    return features.curve(next((n for end in names for n in known if n.endswith(end)), ""))


def evidence(total: Curve, term: Curve, weight: float, aspect: str) -> Evidence:
    return Evidence(
        onset=None,
        where=term.name,
        aspects=(aspect,),
        values={"total": total.name, "value": term.name, "weight": weight},
        points=(api.EvidencePoint(total.name, float(total.steps[-1]), float(total.values[-1]), weight),),
    )
