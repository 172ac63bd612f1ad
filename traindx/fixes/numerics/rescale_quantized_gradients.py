"""Rescale the gradients of quantized layers.

Give the quantizers' scales a rate of their own (a tenth), or scale their gradients by 1 / sqrt(weights x levels);
pass gradients straight through (`w + (q - w).detach()`), inside the clipping range.

Verify: gradient norms of quantized and other layers are within a factor of ten.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "give scales and quantized layers a learning rate of their own, or scale their gradients by 1/sqrt(n)"


FIX = Fix(
    slug="rescale-quantized-gradients",
    title="Rescale the gradients of quantized layers",
    applicability="patch",
    causes=("quantized-layer-gradient-imbalance", "quantization-gap"),
    expected="quantized and other layers learn at the same pace",
    page=page(__doc__),
    propose=propose,
    interventions=("lr.quantized=*0.1",),
)
