"""LOS009 loss-spikes-then-fails."""

from traindx.features.comparisons.rate_sweep import range_test_of
from traindx.features.curves.spike_outcomes import curve_spikes, fails_after
from traindx.features.curves.spikes import RETURN
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOS009",
    needs=("train/loss",),
    min_points=8,
    severity="high",
    persistence="turning",
    message="{name} jumped from about {before:.4g} to {peak:.4g} by step {at:g} and did not recover",
    follows=("loss-not-finite", "loss-diverges"),
)
def loss_spikes_then_fails(
    run: Run,
    features: Features,
    *,
    multiple: float = threshold(8.0, "x robust noise", "convention", "as for spikes that recover"),
    visible: float = threshold(
        0.25, "of the curve's range", "convention", "a quarter of what training gained"
    ),
    kept: float = threshold(
        0.5, "of the spike's height", "convention", "where the run ends, relative to the jump"
    ),
) -> Iterator[Evidence]:
    """The loss jumps up and does not come back.

    ## What it sees
    A spike, measured as in `loss-spikes-and-recovers` and at least a quarter of the range high. After it the
    loss becomes NaN or infinite, or the run ends with more than half of the jump.

    ## Why it matters
    One step did the damage. The checkpoint before it can be used.

    ## When it is wrong
    A deliberate change of the data or of the loss weights. A log that ends a few points after the spike.

    ## What to try
    Resume from before the spike and skip its batches. Clip gradients, or lower the learning rate.

    ## Sources
    Chowdhery et al. (2022), PaLM, section 5.1 (restart from 100 steps before the spike and skip 200 to 500
    batches), arXiv:2204.02311.
    """
    curve = features.needed_curve("train/loss")
    if range_test_of(run) is not None:
        raise CannotJudge("a range test raises the learning rate until the loss diverges")
    for spike in curve_spikes(curve, multiple=multiple, visible=visible):
        ends_up = curve.end - spike.before > kept * spike.height and spike.last < curve.n - 3
        ends_up = ends_up and float(curve.trend[spike.last :].min()) - spike.before > RETURN * spike.height
        broken = fails_after(curve, spike)
        if spike.recovered or not (ends_up or broken):
            continue
        yield Evidence(
            onset=curve.step_at(spike.first),
            last=float(curve.steps[-1]),
            aspects=("then-not-finite",) if broken else ("stays-up",),
            values={
                "name": curve.name,
                "before": spike.before,
                "peak": spike.before + spike.height,
                "at": curve.step_at(spike.peak),
            },
            points=(
                EvidencePoint(
                    curve.name, curve.step_at(spike.peak), spike.before + spike.height, spike.before
                ),
            ),
        )
        return
