"""Clip the gradient norm.

Scale the gradient down whenever its global norm exceeds a limit: 1.0, or a little above the norm's usual value, so
that it acts on exceptions only. Clip after the backward pass (and after unscaling, under mixed precision) and
before the optimizer's step, the same on every process.

If it acts on every step it is a second learning rate; then lower the rate instead.

Verify: the share of clipped steps is a few percent, and spikes in the loss are gone or smaller.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    limit = setup.number("clip_norm")
    return (
        f"lower the clip norm from {limit:g} to {limit / 2:g}"
        if limit
        else "clip the global gradient norm at 1.0"
    )


FIX = Fix(
    slug="clip-gradients",
    title="Clip the gradient norm",
    applicability="runtime",
    causes=("exploding-recurrence", "learning-rate-too-high", "corrupt-samples", "missing-warmup"),
    expected="spikes of the norm no longer reach the weights",
    page=page(__doc__),
    propose=propose,
    touches=("clip_norm",),
    interventions=("clip=1.0",),
)
