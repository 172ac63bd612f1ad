"""Lower the momentum.

Momentum b remembers about 1 / (1 - b) steps: 10 for 0.9, 1000 for 0.999. Use 0.9; with values above 0.98 the rate
has to come down and a warm-up is needed.

Verify: swings of that period are gone at the same rate.
"""

from traindx.fixes.api import Fix, Setup, lowered_to, page


def propose(setup: Setup) -> str:
    return lowered_to(setup, "momentum", 0.9, "momentum")


FIX = Fix(
    slug="lower-momentum",
    title="Lower the momentum",
    applicability="runtime",
    causes=("momentum-too-high", "missing-zero-grad"),
    expected="the slow swings disappear",
    page=page(__doc__),
    propose=propose,
    touches=("momentum",),
    interventions=("momentum=0.9",),
)
