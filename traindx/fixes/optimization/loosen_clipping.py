"""Loosen the gradient clipping.

Log the norm before clipping and set the limit a little above its usual value (twice the median), so that only
exceptions are cut. Clipping by value element by element distorts the direction; prefer the norm.

Verify: under a tenth of the steps is clipped.
"""

from traindx.fixes.api import Fix, Setup, page, scaled


def propose(setup: Setup) -> str:
    return scaled(setup, "clip_norm", 10, "raise", "clip norm") + ", to about twice the usual gradient norm"


FIX = Fix(
    slug="loosen-clipping",
    title="Loosen the gradient clipping",
    applicability="runtime",
    causes=("clip-too-tight",),
    expected="updates become longer and the loss falls faster",
    page=page(__doc__),
    propose=propose,
    touches=("clip_norm",),
    interventions=("clip=*10", "clip=off"),
)
