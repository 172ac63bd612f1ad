"""Lower the momentum.

Momentum b averages over about 1 / (1 - b) steps: 10 for 0.9, 1,000 for 0.999. Use 0.9. Values above 0.98
need a lower learning rate and a warm-up.

Verify: with the same learning rate, the slow oscillations are gone.
"""

from traindx.fixes.api import fix, propose_lower

FIX = fix(
    __name__,
    __doc__,
    propose=propose_lower("momentum", 0.9, "lower the momentum"),
    applicability="runtime",
    causes=("momentum-too-high",),
    expected="the slow oscillations disappear",
    touches=("momentum",),
    interventions=("momentum=0.9",),
)
