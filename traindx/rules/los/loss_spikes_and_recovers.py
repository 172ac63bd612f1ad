"""LOS007 loss-spikes-and-recovers."""

from msgspec.structs import replace

from traindx.features.curves.spike_outcomes import companion_curves, curve_spikes, is_rough
from traindx.features.curves.spikes import Spike
from traindx.rules.api import Curve, Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LOS007",
    needs=("objective",),
    min_points=8,
    severity="low",
    message="{name} {goes} from {before:.4g} to {peak:.4g} at step {onset:g} and recovered within "
    "{settle} points",
    follows=("loss-not-finite", "loss-diverges", "loss-jumps-on-resume"),
)
def loss_spikes_and_recovers(
    run: Run,
    features: Features,
    *,
    multiple: float = threshold(8.0, "x robust noise", "convention", "heavy tails raise it further"),
    visible: float = threshold(0.08, "of the curve's range", "convention", "smaller ones do not matter"),
    many: float = threshold(3, "spikes", "convention", "three recur"),
    clear: float = threshold(0.25, "of the range of a score", "convention", "scores wander more"),
    enough: float = threshold(20, "points", "convention", "of a curve that is not the objective"),
    large: float = threshold(
        3.0, "x the level before", "convention", "2-3x the running average does no harm"
    ),
    start: float = threshold(0.03, "of the points", "convention", "the warm-up"),
    past: float = threshold(0.25, "of the points", "convention", "most of the run came after it"),
) -> Iterator[Evidence]:
    """The loss spikes once or twice and recovers.

    ## What it sees
    Points that exceed the running median by 8 robust standard deviations, by 8 % of the range of the curve,
    and by more than the tail of the curve explains. They must fall back to within a third of their height,
    however slowly.
    If the objective has no spike, validation losses, parts of the loss and rewards (which drop) are checked
    as well. Severity is low if the objective reaches 4 times its level, and info otherwise. Three or more
    spikes are `loss-spikes-recur`.

    ## Why it matters
    A single spike of 2 or 3 times the average does no harm to most runs. It shows where to look: the batch,
    the learning rate.

    ## When it is wrong
    Losses of single samples or tiny batches have heavy tails that resemble spikes. The limit rises with the
    tail.

    ## What to try
    Look at the batch of that step and at the gradient norm one step before. Clip gradients if spikes grow.

    ## Sources
    Chowdhery et al. (2022), PaLM, section 5.1, arXiv:2204.02311. Tail: Hill (1975), A simple general
    approach to inference about the tail of a distribution, doi:10.1214/aos/1176343247.
    """
    curve = features.needed_curve("objective")
    for other in (curve, *companion_curves(features, least=int(enough))):
        bar = visible if other is curve and curve.sign > 0 else clear
        spikes = curve_spikes(other, multiple=multiple, visible=bar)
        found = [s if s.recovered else slowly_back(other, s) for s in spikes]
        found = [s for s in found if s.recovered]
        if is_rough(other) and (other is not curve or curve.sign < 0):
            continue
        if other is curve and len(found) >= many:
            return
        if 0 < len(found) < many:
            worst = max(found, key=lambda s: s.height)
            yield evidence(features, other, worst, large if other is curve else np.inf, (start, past))
            return


def slowly_back(curve: Curve, spike: Spike, *, part: float = 1 / 3) -> Spike:
    """The spike with its late return, if the curve came back for good to within `part` of the spike's height."""
    above = curve.as_loss[spike.peak :] - spike.before > part * spike.height
    back = int(np.flatnonzero(above)[-1]) + 1  # the first point after which it stays down
    if back >= len(above) - len(above) * part:
        return spike
    return replace(spike, last=spike.peak + back - 1, recovered=True, settle=spike.peak + back - spike.first)


def evidence(
    features: Features, curve: Curve, worst: Spike, large: float, since: tuple[float, float]
) -> Evidence:
    """The evidence of one spike (of a score, a drop). `since`: the shares of the run that count as early and
    long ago."""
    start, past = since
    early: tuple[str, ...] = ("early",) if worst.first <= max(3, start * curve.n) else ()
    early += ("long-ago",) if worst.last < past * curve.n else ()
    tall = worst.height >= large * abs(worst.before) and "early" not in early and curve.sign > 0
    peak, step = (worst.before + worst.height) * curve.sign, curve.step_at(worst.peak)
    before = worst.before * curve.sign
    return Evidence(
        onset=curve.step_at(worst.first),
        last=curve.step_at(worst.last),
        severity="low" if tall else "info",
        aspects=("single", *early, *with_norm(features, step)),
        values={
            "name": curve.name, "goes": "spiked" if curve.sign > 0 else "dropped", "peak": peak,
            "before": before, "onset": step, "settle": worst.settle,
        },
        points=(EvidencePoint(curve.name, step, peak, before),),
    )  # fmt: skip


def with_norm(features: Features, step: float) -> tuple[str, ...]:
    """Whether the gradient norm spiked too."""
    norm = features.curve("grad_norm")
    if norm is None or not norm.n:
        return ()
    at = norm.values[abs(norm.steps - step) <= 2 * (norm.steps[-1] - norm.steps[0]) / norm.n]
    middle = sorted(norm.values)[norm.n // 2]
    return ("with-norm",) if len(at) and float(at.max()) > 3 * middle else ()
