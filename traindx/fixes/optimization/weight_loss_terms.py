"""Weight the terms of the loss.

Bring every term to the size that it should have: about 0.5 for a value loss, 0.01 for an entropy bonus
(subtracted from the loss), 0.04 or less for the divergence from a reference model, and 1 for that of an
autoencoder whose reconstruction is summed over all outputs, as the divergence is.

Verify: rewards or reconstructions improve, and no term grows without bound.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="lower the weight of the largest term to a tenth, and check the sign of each",
    applicability="patch",
    causes=("unbalanced-loss-terms",),
    expected="the number that counts (rewards, reconstructions) improves",
    touches=("loss",),
)
