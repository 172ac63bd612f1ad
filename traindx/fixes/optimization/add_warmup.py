"""Warm the learning rate up.

Raise the learning rate linearly from almost zero to its peak over the first one to five percent of the
run (200 to 2,000 steps; for Adam at least 2 / (1 - beta2) steps). Adam's second moments, normalization
layers and attention logits settle in this time.

If the run still diverges after the warm-up, the peak itself is too high.

Verify: the early spike is gone with the same peak.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    steps = setup.number("planned_steps")
    rise = "the first 2 % of the run (at least 100 steps)"
    if steps:
        share = max(0.02 * steps, min(100.0, 0.1 * steps))
        rise = f"{share:,.0f} steps ({share / steps:.0%} of the run)".replace("%", " %")
    return f"let the learning rate rise from 0 to its peak over {rise}"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    idioms={
        "keras": "keras.optimizers.schedules.CosineDecay with warmup_steps",
        "jax": "optax.warmup_cosine_decay_schedule",
    },
    applicability="runtime",
    causes=("missing-warmup", "learning-rate-too-high", "bad-initialization"),
    expected="the loss does not jump early in the run, and the later curve is the same or better",
    touches=("warmup_steps",),
    interventions=("lr.warmup=0.02",),
)
