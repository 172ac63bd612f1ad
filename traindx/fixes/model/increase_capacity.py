"""Make the model larger.

Double or quadruple the width first, then add depth (with skip connections). Look for a bottleneck of a
few units and for missing activation functions: a stack of linear layers is one linear layer.

First check that the present model can overfit one batch. If it cannot, its size is not the fault.

Verify: the training loss reaches a lower value.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "double the width (about 4 x the {parameters:,.0f} parameters)",
        "double the width of the hidden layers (then the depth)",
    ),
    applicability="advice",
    causes=("insufficient-capacity", "undertrained"),
    expected="training and validation loss both reach lower values",
    touches=("parameters",),
)
