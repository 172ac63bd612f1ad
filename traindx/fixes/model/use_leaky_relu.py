"""Use LeakyReLU, ELU or GELU.

A small slope on the negative side (0.01) keeps the gradient alive. If the units died after one large step, lower
the rate or clip as well, or they will die again.

Verify: the share of units that are silent on all data falls under a few percent.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "use LeakyReLU(0.01) or GELU instead of ReLU"


FIX = Fix(
    slug="use-leaky-relu",
    title="Use LeakyReLU, ELU or GELU",
    applicability="runtime",
    causes=("dead-relus",),
    expected="silent units come back, the floor drops",
    page=page(__doc__),
    propose=propose,
    interventions=("activation=leaky_relu",),
)
