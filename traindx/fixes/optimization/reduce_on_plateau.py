"""Lower the learning rate when progress stops.

At a constant rate the loss ends on a noise floor, whose height is set by rate over batch size. Halve the
rate whenever validation has not improved for some evaluations, and the loss falls below that floor. A
cosine or linear decay to zero over the planned run does the same without a patience setting.

The patience must outlast the noise: ten evaluations, not one.

Verify: the loss drops right after a reduction.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "halve the learning rate when validation has not improved for 10 evaluations, or decay it "
        "to 0 by the end"
    ),
    idioms={
        "keras": "ReduceLROnPlateau",
        "jax": "optax.contrib.reduce_on_plateau, optax.cosine_decay_schedule",
    },
    applicability="runtime",
    causes=("batch-too-small", "learning-rate-schedule-fault", "learning-rate-too-high"),
    expected="the loss drops at each reduction and becomes less noisy",
    touches=("schedule",),
    interventions=("lr=plateau",),
)
