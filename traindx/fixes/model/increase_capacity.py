"""Make the model larger.

Twice to four times the width first, then depth (with skip connections). Look for a bottleneck of a few units and
for missing activations: a stack of linear layers is one linear layer.

First see that the present model can overfit one batch; if it cannot, size is not the fault.

Verify: the training floor drops.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    size = setup.number("parameters")
    return (
        f"double the width (about 4 x the {size:g} parameters)"
        if size
        else "double the width of the hidden layers (then the depth)"
    )


FIX = Fix(
    slug="increase-capacity",
    title="Make the model larger",
    applicability="advice",
    causes=("insufficient-capacity", "undertrained"),
    expected="both losses settle lower",
    page=page(__doc__),
    propose=propose,
    touches=("parameters",),
)
