"""Weight the terms of the loss.

Bring every term to the size that it should have: about 0.5 for a value loss, 0.01 for an entropy bonus
(subtracted from the loss), 0.04 or less for the divergence from a reference model, and 1 for that of an
autoencoder whose reconstruction is summed over all outputs, as the divergence is.

Verify: rewards or reconstructions improve, and no term grows without bound.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    seen = setup.word("findings").split()
    if "posterior-collapses" in seen:
        return (
            "raise the weight of the divergence slowly from 0 to 1 over the first quarter of the steps, or leave "
            "it some free bits"
        )
    if "divergence-left-out" in seen:
        return "give the divergence a weight: 1 in a variational autoencoder, 0.04 for a reference model"
    return "lower the weight of the largest term to a tenth, and check the sign of each"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=("unbalanced-loss-terms",),
    expected="the number that counts (rewards, reconstructions) improves",
    touches=("loss",),
)
