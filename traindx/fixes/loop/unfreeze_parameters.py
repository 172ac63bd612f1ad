"""Unfreeze the parameters.

requires_grad_(True) (trainable = True) on everything that is not meant to stay as pretrained; build the optimizer
afterwards. A pretrained base may stay frozen while a new head trains, but then the head must not be.

Verify: the count of trainable parameters, and updates above zero in each of them.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "set requires_grad on the layers that should learn, then build the optimizer"


FIX = Fix(
    slug="unfreeze-parameters",
    title="Unfreeze the parameters",
    applicability="runtime",
    causes=("frozen-parameters",),
    expected="the frozen part begins to change and the floor drops",
    page=page(__doc__),
    propose=propose,
    interventions=("unfreeze=all",),
)
