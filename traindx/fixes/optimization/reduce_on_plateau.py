"""Lower the learning rate when progress stops.

With a constant rate the loss ends on a floor made of noise, whose height is set by rate over batch. Halving (or a
tenth of) the rate whenever validation has not improved for some evaluations lets it go below; a cosine or linear
decay to zero over the planned run does the same without a knob.

Do not set the patience shorter than the noise: ten evaluations, not one.

Verify: the loss drops right after a reduction.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "halve the learning rate when validation has not improved for 10 evaluations, or decay it to 0 by the end"


FIX = Fix(
    slug="reduce-on-plateau",
    title="Lower the learning rate when progress stops",
    applicability="runtime",
    causes=("batch-too-small", "learning-rate-schedule-fault", "learning-rate-too-high"),
    expected="a step down in the loss at each reduction, and less noise",
    page=page(__doc__),
    propose=propose,
    touches=("schedule",),
    interventions=("lr=plateau",),
)
