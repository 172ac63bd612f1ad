"""GRD004 gradient-norm-spikes."""

from traindx.features.curves.gradient_norms import Excursion
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, np, rule, threshold


def loss_answers(objective: Curve | None, first: float, last: float, jump: float) -> bool:
    """Whether the objective rises by `jump` of its level around the steps `first` to `last`."""
    if objective is None:
        return False
    a = max(int(np.searchsorted(objective.steps, first)) - 1, 0)
    b = int(np.searchsorted(objective.steps, last, side="right")) + 1
    window = objective.as_loss[a:b]
    return len(window) > 1 and float(window.max() - window[0]) > jump * abs(float(window[0]))


def ends_well(objective: Curve | None, lost: float) -> bool:
    """Whether the objective ends about as low as it ever was, so that the spikes did no lasting harm."""
    if objective is None or objective.n < 4:
        return False
    gained = objective.start - objective.best
    if gained > 0 and objective.end <= objective.best + lost * gained:
        return True
    # An excerpt around a spike begins at the level that the loss comes back to.
    height = float(objective.as_loss.max()) - objective.start
    return height > max(gained, 0.0) and float(objective.as_loss[-1]) - objective.start <= lost * height


@rule(
    code="GRD004",
    needs=("grad_norm",),
    min_points=3,
    severity="low",
    message="the gradient norm spiked {count} times, up to {factor:.0f} times the level around it",
    follows=(
        "gradient-norm-explodes",
        "gradient-not-finite",
        "loss-not-finite",
        "loss-diverges",
        "loss-spikes-recur",
    ),
)
def gradient_norm_spikes(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(10.0, "x the level around", "convention", "an order of magnitude"),
    score: float = threshold(6.0, "x noise of the log norm", "convention", "beyond heavy-tailed batches"),
    many: float = threshold(3, "spikes", "convention", "fewer may be single bad batches"),
    jump: float = threshold(0.2, "of the loss", "convention", "a visible rise of the loss"),
    usual: float = threshold(
        2.0, "x the norm's level at the start", "measured", "training programs: late norms are small"
    ),
    begun: float = threshold(0.1, "of the run", "convention", "what counts as its start"),
    lost: float = threshold(0.1, "of the progress", "convention", "a run that ends well may lack this much"),
    short: float = threshold(8, "rows", "convention", "in fewer the loss must rise as well"),
) -> Iterator[Evidence]:
    """The global gradient norm jumps far above its surrounding level for a few steps.

    ## What it sees
    Stretches more than 10 times above the local level and more than 6 times the noise of the logarithm.
    Severity:

    - info for one or two spikes that the loss does not follow;
    - low if the loss follows, or from three spikes on;
    - medium if, in addition, the norm exceeds twice its level at the start of the run and the loss does not
      end near its best. Late in training, when norms are small, a single hard batch makes a spike.

    ## Why it matters
    The norm often jumps a few steps before the loss. Without clipping, one such step can undo much training.

    ## When it is wrong
    The first gradients of a new network and those of a warm-up are large. Heavy-tailed norms (reinforcement
    learning, small batches) are compared with their own spread.

    ## What to try
    Look at the batches of these steps. Clip the norm slightly above its usual level.

    ## Sources
    Chowdhery et al. (2022), PaLM, section 5.1, arXiv:2204.02311. Zhang et al. (2020), Why are adaptive
    methods good for attention models? (heavy-tailed gradients), arXiv:1912.03194.
    """
    norm = features.needed_curve("grad_norm")
    steps, values = norm.steps[norm.values > 0], norm.values[norm.values > 0]
    found = api.excursions(values, factor=factor, score=score) if len(values) > 2 else []
    answered = [
        e for e in found if loss_answers(features.objective, steps[e.start], steps[e.stop - 1], jump)
    ]
    found = answered if len(values) < short else found
    if not found:
        return
    often = len(found) >= many
    early = float(api.median(values[: max(3, int(begun * len(values)))]))
    beyond = max(float(values[e.peak]) for e in found) > usual * early
    marks = ("loss-answers",) * bool(answered) + ("recurrent",) * often
    yield Evidence(
        onset=float(steps[found[0].start]),
        last=float(steps[found[-1].stop - 1]),
        strength=1.0 if often and answered else 0.5,
        severity=severity(bool(answered), often, beyond and not ends_well(features.objective, lost)),
        aspects=marks + ("unresolved",) * (found[-1].stop == len(values)),
        values={"count": len(found), "factor": max(e.factor for e in found)},
        points=tuple(spike_point(e, steps, values) for e in sorted(found, key=lambda e: -e.factor)[:3]),
    )


def spike_point(spike: Excursion, steps: api.Floats, values: api.Floats) -> api.EvidencePoint:
    """The peak of a spike, compared with the level around it."""
    peak = float(values[spike.peak])
    return api.EvidencePoint("grad_norm", float(steps[spike.peak]), peak, peak / spike.factor, "L2")


def severity(answered: bool, often: bool, harmful: bool) -> api.Severity:
    """By whether the loss rises too or the spikes recur, and whether harm remains."""
    if not (answered or often):
        return "info"
    return "medium" if harmful else "low"
